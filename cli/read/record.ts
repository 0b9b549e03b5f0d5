import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, Origin, RecordPlace } from '../agents/agent.ts';
import type { Cursor } from '../spool/files.ts';
import type { WritingTime } from '../spool/pauses.ts';

/** A record with all that is needed to take it over. */
export interface CapturedRecord {
  events: CapturedEvent[];
  /** What it is recognised by when it is met again: its key, or else its text. */
  identity: Buffer;
  keyed: boolean;
  /** The folder the agent worked in. */
  folder: string | undefined;
  /** Whether the agent says with it that the session is over. */
  ended: boolean;
  /** Whether it says again what earlier records have said. */
  restates: boolean;
  /** Whether it is no record at all, and whether nothing of it was kept. */
  unreadable: boolean;
  tooLong: boolean;
  /** Milliseconds; the latest time of the file so far, so that it never goes back. */
  time: number;
  /** What is known of when it was written, by itself or by its neighbours; milliseconds, 0 where nothing is. */
  writtenAt: number;
  /** When it can have been written. A record without a time was written after the record before it in its file. */
  written: WritingTime;
  bytes: number;
  /** The file's cursor once this record is taken over; only of the record that was taken last. */
  cursor: () => Cursor;
}

/** The records of a transcript from its cursor on, in its order. */
export interface RecordStream {
  next(): CapturedRecord | undefined;
  close(): void;
}

/** Bytes that hold no record, or one that its parser cannot cope with. */
export interface Unreadable {
  bytes: Buffer;
  reason?: string;
}

/** What its agent makes of a record. The key comes first: a parser takes the record apart. */
export function interpret(agent: Agent, record: JsonObject | undefined, place: RecordPlace, kept: Unreadable) {
  const key = record && agent.recordKey(record, place);
  const folder = record && folderOf(record, agent);
  const ended = (record && agent.endsSession?.(record)) ?? false;
  const isLater = (record && agent.bearsEarlierTime?.(record)) ?? false;
  const isCopy = (record && agent.restates?.(record, place)) ?? false;
  const events = (record && parseRecord(agent, record, place)) ?? [unreadableEvent(agent, kept, place)];
  const ownTime = timeOf(events);
  const restates = isCopy || events.some(sumsUp);
  return { key, folder, ended, restates, events, ownTime, writingTime: isLater ? undefined : ownTime };
}

/** Compactions and titles repeat earlier messages. */
const sumsUp = ({ eventType, payload }: CapturedEvent): boolean =>
  eventType === 'compaction' || (eventType === 'session.meta' && payload.title !== undefined);

/** A parser never throws; should one, its record is kept unparsed. */
export function parseRecord(agent: Agent, record: JsonObject, place: RecordPlace): CapturedEvent[] | undefined {
  try {
    return agent.parse(record, place);
  } catch {
    return undefined;
  }
}

function unreadableEvent(agent: Agent, { bytes, reason }: Unreadable, place: RecordPlace): CapturedEvent {
  const { session, subagent, agentVersion }: Origin = place.origin;
  const source = {
    agent: agent.id,
    ...(agentVersion !== undefined && { agentVersion }),
    session,
    ...(subagent !== undefined && { subagent }),
    file: place.file,
    position: place.position,
  };
  // Byte for character, so that secrets in it can be found; it becomes base64 after that.
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

/** The folder the agent worked in: most write it at the top of a record or of a record inside it. */
export function folderOf(record: JsonObject, agent: Pick<Agent, 'folderOf'> = {}): string | undefined {
  if (agent.folderOf) return agent.folderOf(record);
  const { payload } = record;
  const inner = typeof payload === 'object' && payload !== null ? (payload as JsonObject).cwd : undefined;
  return [record.cwd, inner].find((cwd) => typeof cwd === 'string');
}
