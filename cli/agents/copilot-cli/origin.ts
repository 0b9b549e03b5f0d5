import type { JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { peekWords } from '../reader.ts';
import { type Remainder, remainderOf } from '../remainder.ts';
import { takeText } from '../typed.ts';

/** `<session>/events.jsonl`, before 1.0 `<session>.jsonl`. Deeper down lie files that the agent worked on. */
export const isTranscript = (path: string): boolean => /^([^/]+\/events|[^/]+)\.jsonl$/.test(path);

export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const start = remainderOf(first ?? {});
  const text = (...keys: string[]) => (first?.type === 'session.start' ? peekWords(start, 'data', ...keys) : undefined);
  const facts = {
    agentVersion: text('copilotVersion'),
    cwd: text('context', 'cwd'),
    branch: text('context', 'branch'),
  };
  const present = Object.entries(facts).filter(([, value]) => value !== undefined);
  const stem = path.replace(/(\/events)?\.jsonl$/, '');
  return { session: text('sessionId') ?? stem.slice(stem.lastIndexOf('/') + 1), ...Object.fromEntries(present) };
}

/**
 * Where a record of a sub-agent stands. It names the sub-agent, or else the call that started it. The record of the
 * start itself is the parent's.
 */
export function withSubagent(remainder: Remainder, place: RecordPlace, type: string): RecordPlace {
  if (type.startsWith('subagent.')) return place;
  const subagent = takeText(remainder, 'agentId') ?? takeText(remainder, 'data', 'parentToolCallId');
  return subagent === undefined ? place : { ...place, origin: { ...place.origin, subagent } };
}
