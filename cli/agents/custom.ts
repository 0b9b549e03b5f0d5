import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from './agent.ts';
import { compose } from './compose.ts';
import { readFields } from './custom/fields.ts';
import { toJson } from './deep-json.ts';
import { toTimestamp } from './document.ts';
import { peekWords } from './reader.ts';
import { peek, remainderOf } from './remainder.ts';
import { takeInteger, takeSame, takeText } from './typed.ts';

/**
 * For agents of one's own: files of JSON objects, one a line, whose `type` is a name of the vocabulary and whose fields
 * are those of that event. `docs/custom-agents.md` describes them. A file is a session, or a sub-agent of one; the first
 * line tells which. What a type does not have, or not with such a value, is kept in `rest`: no line is refused.
 */
export const custom: Agent = {
  id: 'custom',
  displayName: 'Custom agent',
  variables: ['CAPTURE_CUSTOM', 'CAPTURE_HOME'],
  roots: ({ CAPTURE_CUSTOM, CAPTURE_HOME }, home) => [
    CAPTURE_CUSTOM || join(CAPTURE_HOME || join(home, '.capture'), 'custom'),
  ],
  isTranscript: (path) => path.endsWith('.jsonl'),
  identify,
  recordKey,
  parse,
};

function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const header = remainderOf(first ?? {});
  const facts = {
    subagent: peekWords(header, 'subagent'),
    agentVersion: peekWords(header, 'version'),
    cwd: peekWords(header, 'cwd'),
    branch: peekWords(header, 'branch'),
    forkedFrom: peekWords(header, 'forkedFrom'),
  };
  const present = Object.entries(facts).filter(([, value]) => value !== undefined);
  return { session: peekWords(header, 'session') ?? path.replace(/\.jsonl$/, ''), ...Object.fromEntries(present) };
}

/** A line in a fork, or one written anew with the rest of its file, is told by its id and time: neither alone is safe. */
function recordKey(record: JsonObject): string | undefined {
  const { id, time } = record;
  if (typeof id !== 'string' || id.length < 8 || (typeof time !== 'string' && typeof time !== 'number'))
    return undefined;
  return `${id} ${time} ${hash('sha256', toJson(record), 'base64url')}`;
}

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const { session, subagent, agentVersion } = place.origin;
  // A time in milliseconds stays in `rest`.
  const occurredAt = toTimestamp(peek(remainder, 'time')) ?? takeText(remainder, 'time');
  const source = {
    record: takeText(remainder, 'id'),
    parent: takeText(remainder, 'parent'),
    revision: takeInteger(remainder, 'revision'),
  };
  takeSame(remainder, session, 'session');
  takeSame(remainder, subagent, 'subagent');
  takeSame(remainder, agentVersion, 'version');
  return compose(remainder, place, { agent: 'custom', occurredAt, ...source }, [readFields(remainder)]);
}
