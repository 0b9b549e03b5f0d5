import type { JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { peekWords } from '../reader.ts';
import { remainderOf } from '../remainder.ts';

/** `<project>/<session>.jsonl`. */
export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const start = remainderOf(first?.type === 'session_start' ? first : {});
  const stem = path.slice(path.lastIndexOf('/') + 1).replace(/\.jsonl$/, '');
  const own = UUID.test(stem) ? stem : (peekWords(start, 'id') ?? stem);
  const caller = peekWords(start, 'callingSessionId');
  const isSubagent = caller !== undefined && caller !== own;
  const version = peekWords(start, 'version');
  const facts = {
    subagent: isSubagent ? own : undefined,
    // A number is the format's version.
    agentVersion: version?.includes('.') ? version : undefined,
    cwd: peekWords(start, 'cwd'),
  };
  const present = Object.entries(facts).filter(([, value]) => value !== undefined);
  return { session: isSubagent ? caller : own, ...Object.fromEntries(present) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
