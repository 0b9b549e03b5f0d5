import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import type { Agent, JsonObject, Origin, RecordPlace } from '../agents/agent.ts';
import type { WritingTime } from '../decide/pauses.ts';
import type { Cursor } from '../spool/files.ts';
import type { Value } from './values.ts';

/** A record with everything needed to take it over. */
export interface CapturedRecord {
  events: CapturedEvent[];
  /** Identifies the record when capture meets it again: the hash of its key, or of its text if it has no key. */
  identity: Buffer;
  keyed: boolean;
  /** The session that the record names. */
  session: string | undefined;
  /** The folder the agent worked in. */
  folder: string | undefined;
  /** Whether the agent says with this record that the session is over. */
  ended: boolean;
  /** Whether the record repeats the content of earlier records. */
  restates: boolean;
  /** Whether these bytes are no record, and whether all of them were dropped. */
  unreadable: boolean;
  tooLong: boolean;
  /** The latest time that its file has named so far, in milliseconds since 1970. It orders the records of several files. */
  lastTime: number;
  /** The time that it names, or else `lastTime`. In milliseconds since 1970, 0 where none is known. */
  occurredAt: number;
  /** The range of possible writing times. A record without a time was written after the record before it in its file. */
  written: WritingTime;
  bytes: number;
  /** The file's cursor once this record is taken over. Valid only for the record that was taken last. */
  cursor: () => Cursor;
}

/** The records of a transcript from its cursor on, in its order. */
export interface RecordStream {
  next(): CapturedRecord | undefined;
  close(): void;
}

/** Turns a record into events. The key is read first, because a parser takes the record apart. */
export function interpret(
  agent: Agent,
  record: JsonObject | undefined,
  place: RecordPlace,
  value: Pick<Value, 'bytes' | 'reason'>,
) {
  const key = record && agent.recordKey(record, place);
  const session = record && agent.sessionOf?.(record);
  const folder = record && folderOf(record, agent);
  const ended = (record && agent.endsSession?.(record)) ?? false;
  const bearsEarlierTime = (record && agent.bearsEarlierTime?.(record)) ?? false;
  const isCopy = (record && agent.restates?.(record, place)) ?? false;
  const events = (record && parseRecord(agent, record, place)) ?? [unreadableEvent(agent, value, place)];
  const occurredAt = timeOf(events);
  const restates = isCopy || events.some(sumsUp);
  return { key, session, folder, ended, restates, events, occurredAt, bearsEarlierTime };
}

/** Compactions and titles repeat earlier messages. */
const sumsUp = ({ eventType, payload }: CapturedEvent): boolean =>
  eventType === 'compaction' || (eventType === 'session.meta' && payload.title !== undefined);

/** A parser should never throw. If one does, its record is kept unparsed. */
export function parseRecord(agent: Agent, record: JsonObject, place: RecordPlace): CapturedEvent[] | undefined {
  try {
    return agent.parse(record, place);
  } catch {
    return undefined;
  }
}

function unreadableEvent(
  agent: Agent,
  { bytes, reason }: Pick<Value, 'bytes' | 'reason'>,
  place: RecordPlace,
): CapturedEvent {
  const { session, subagent, agentVersion }: Origin = place.origin;
  const source = {
    agent: agent.id,
    ...(agentVersion !== undefined && { agentVersion }),
    session,
    ...(subagent !== undefined && { subagent }),
    file: place.file,
    position: place.position,
  };
  // Each byte becomes a character, so that capture can find secrets in the text. It becomes base64 after that.
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text).equals(bytes);
  const raw = isText ? text : bytes.toString('latin1');
  const encoding = isText ? 'utf8' : 'base64';
  return { eventType: 'unreadable', payload: { source, raw, encoding, reason: reason ?? 'the parser failed' } };
}

export function timeOf(events: readonly CapturedEvent[]): number | undefined {
  for (const { payload } of events) {
    const time = Date.parse(payload.occurredAt ?? '');
    if (!Number.isNaN(time)) return time;
  }
  return undefined;
}

/** The folder the agent worked in. Most agents write it at the top of a record or of a record inside it. */
export function folderOf(record: JsonObject, agent: Pick<Agent, 'folderOf'> = {}): string | undefined {
  if (agent.folderOf) return agent.folderOf(record);
  const { payload } = record;
  const inner = typeof payload === 'object' && payload !== null ? (payload as JsonObject).cwd : undefined;
  return [record.cwd, inner].find((cwd) => typeof cwd === 'string');
}
