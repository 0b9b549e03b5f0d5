import { join } from 'node:path';
import { type CapturedEvent, type CapturedType, VOCABULARY } from '../../../transcript/vocabulary.ts';
import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { toTimestamp } from '../shared/document.ts';
import { compose, type Draft, draft, fieldsOf, type Readers, readerOf } from '../shared/events.ts';
import { headerOf, keyWithContent, toOrigin } from '../shared/identity.ts';
import { type Part, partOf, peek, peekText, peekWords, takeInteger, takeSame, takeText } from '../shared/part.ts';
import { fields } from '../shared/readers.ts';

/**
 * For a person's own agents: files with one JSON object per line. Its `type` names an event of the vocabulary, and its fields
 * are the fields of that event. `docs/custom-agents.md` describes them. A file is a session, or a sub-agent of one; the first
 * line names it. Fields that a type lacks, or values that do not fit, are kept in `rest`. No line is refused.
 */
export const custom: Agent = {
  id: 'custom',
  displayName: 'Custom agent',
  variables: ['CAPTURE_CUSTOM', 'CAPTURE_HOME'],
  roots: ({ CAPTURE_CUSTOM, CAPTURE_HOME }, home) => [
    CAPTURE_CUSTOM || join(CAPTURE_HOME || join(home, '.capture'), 'custom'),
  ],
  isTranscript: (path) => path.endsWith('.jsonl'),
  hasLocalIds: true,
  identify,
  plainRecords: 'all',
  recordKey,
  parse,
};

function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const header = headerOf(first);
  return toOrigin({
    session: peekWords(header, 'session') ?? path.replace(/\.jsonl$/, ''),
    subagent: peekWords(header, 'subagent'),
    agentVersion: peekWords(header, 'version'),
    cwd: peekWords(header, 'cwd'),
    branch: peekWords(header, 'branch'),
    forkedFrom: peekWords(header, 'forkedFrom'),
  });
}

/** Recognises a line in a fork or a rewritten file by its id and time. Neither alone is safe. */
function recordKey(record: JsonObject): string | undefined {
  const { id, time } = record;
  if (typeof id !== 'string' || id.length < 8 || (typeof time !== 'string' && typeof time !== 'number'))
    return undefined;
  return keyWithContent(`${id} ${time}`, record);
}

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const part = partOf(record);
  const { session, subagent, agentVersion } = place.origin;
  // A time in milliseconds stays in `rest`.
  const occurredAt = toTimestamp(peek(part, 'time')) ?? takeText(part, 'time');
  const source = {
    record: takeText(part, 'id'),
    parent: takeText(part, 'parent'),
    revision: takeInteger(part, 'revision'),
  };
  takeSame(part, 'session', session);
  takeSame(part, 'subagent', subagent);
  takeSame(part, 'version', agentVersion);
  return compose(part, place, { agent: 'custom', occurredAt, ...source }, [readFields(part)]);
}

/** The event that a line's `type` names, with the line's fields that fit; or a `record` of that kind. */
function readFields(part: Part): Draft {
  const type = peekText(part, 'type') ?? '';
  const [event] = readerOf(READERS, type)?.(part) ?? [];
  return event ?? draft('record', { kind: takeText(part, 'kind') ?? (type || undefined) });
}

/** Each field of an event has its own name. */
const readEvent = (type: CapturedType) =>
  fields(type, Object.fromEntries(fieldsOf(type).map(({ name }) => [name, name])));

/** Only the reader decides what is unreadable. */
const TYPES = (Object.keys(VOCABULARY) as CapturedType[]).filter((type) => type !== 'record' && type !== 'unreadable');

const READERS: Readers<(part: Part) => Draft[]> = {
  ...Object.fromEntries(TYPES.map((type) => [type, readEvent(type)])),
  session: readEvent('session.meta'),
};
