import type { JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { peekWords } from '../reader.ts';
import { type Remainder, remainderOf } from '../remainder.ts';

/** `<project>/chats/<session>.jsonl`; of sub-agents `<project>/subagents/<session>/agent-<id>.jsonl`. */
export const isTranscript = (path: string): boolean => /(^|\/)(chats|subagents)\/.*\.jsonl$/.test(path);

export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const record = remainderOf(first ?? {});
  const stem = path.slice(path.lastIndexOf('/') + 1).replace(/\.jsonl$/, '');
  const named = UUID.test(stem) ? stem : undefined;
  const subagent = /^agent-(.+)$/.exec(stem)?.[1] ?? (named ? undefined : peekWords(record, 'agentId'));
  const facts = {
    subagent,
    agentVersion: peekWords(record, 'version'),
    cwd: peekWords(record, 'cwd'),
    branch: peekWords(record, 'gitBranch'),
    forkedFrom: peekWords(record, 'forkedFrom', 'sessionId') ?? peekWords(record, 'forkedFrom'),
  };
  const present = Object.entries(facts).filter(([, value]) => value !== undefined);
  return { session: named ?? peekWords(record, 'sessionId') ?? stem, ...Object.fromEntries(present) };
}

/** Old versions kept the records of sub-agents among those of the session. */
export function withSubagent(remainder: Remainder, place: RecordPlace): RecordPlace {
  const subagent = place.origin.subagent ?? peekWords(remainder, 'agentId');
  return subagent === undefined ? place : { ...place, origin: { ...place.origin, subagent } };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
