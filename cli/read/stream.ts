import { hash } from 'node:crypto';
import { closeSync } from 'node:fs';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, Origin, RecordPlace } from '../agents/agent.ts';
import type { Cursor } from '../spool/files.ts';
import { fingerprint, HEAD_BYTES, readAt } from './cursor.ts';
import { createLineReader, type LineOptions } from './lines.ts';
import { readValues, type Value } from './values.ts';

/** A record with all that is needed to take it over. */
export interface CapturedRecord {
  events: CapturedEvent[];
  /** What it is recognised by when it is met again: its key, or else its text. */
  identity: Buffer;
  keyed: boolean;
  /** The folder the agent worked in. */
  folder: string | undefined;
  /** Whether it is no record at all, and whether nothing of it was kept. */
  unreadable: boolean;
  tooLong: boolean;
  /** Milliseconds; the latest time of the file so far, so that it never goes back. */
  time: number;
  bytes: number;
  /** The file's cursor once this record is taken over. */
  cursor: Cursor;
}

export interface StreamOptions {
  agent: Agent;
  path: string;
  origin: Origin;
  fd: number;
  cursor: Cursor;
  lines: LineOptions;
}

export type RecordStream = ReturnType<typeof createRecordStream>;

/** The records of an open file from its cursor on, in the order of the file. */
export function createRecordStream({ agent, path, origin, fd, cursor, lines }: StreamOptions) {
  const reader = createLineReader(fd, cursor.offset, lines);
  const values: Value[] = [];
  let head = readAt(fd, 0, HEAD_BYTES);
  let lastTime = cursor.lastTime;
  let current: CapturedRecord | undefined;

  function readNext(): CapturedRecord | undefined {
    while (values.length === 0) {
      const line = reader.next();
      if (line === undefined) return undefined;
      values.push(...readValues(line));
    }
    return capture(values.shift() as Value);
  }

  function capture(value: Value): CapturedRecord {
    const place: RecordPlace = { origin, file: path, position: value.start };
    const { record } = value;
    const key = record && agent.recordKey(record, place);
    const folder = record && folderOf(record);
    const identity = key === undefined ? value.bytes : Buffer.from(`${agent.id} ${key}`);
    const events = (record && parse(record, place)) ?? [unreadable(value, place)];
    lastTime = Math.max(lastTime, timeOf(events) ?? 0);
    return {
      events,
      identity: hash('sha256', identity, 'buffer').subarray(0, 16),
      keyed: key !== undefined,
      folder,
      unreadable: record === undefined,
      tooLong: record === undefined && value.bytes.length === 0,
      time: lastTime,
      bytes: value.end - value.start,
      cursor: cursorAt(value.end),
    };
  }

  /** A parser never throws; should one, its record is kept as it is. */
  function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] | undefined {
    try {
      return agent.parse(record, place);
    } catch {
      return undefined;
    }
  }

  function unreadable({ bytes, reason }: Value, { position }: RecordPlace): CapturedEvent {
    const { session, subagent, agentVersion } = origin;
    const source = {
      agent: agent.id,
      ...(agentVersion !== undefined && { agentVersion }),
      session,
      ...(subagent !== undefined && { subagent }),
      file: path,
      position,
    };
    // Byte for character, so that secrets in it can be found; it becomes base64 after that.
    const text = bytes.toString('utf8');
    const isText = Buffer.from(text).equals(bytes);
    const raw = isText ? text : bytes.toString('latin1');
    const encoding = isText ? 'utf8' : 'base64';
    return { eventType: 'unreadable', payload: { source, raw, encoding, reason: reason ?? 'the parser failed' } };
  }

  function cursorAt(offset: number): Cursor {
    const headLength = Math.min(offset, HEAD_BYTES);
    if (head.length < headLength) head = readAt(fd, 0, HEAD_BYTES);
    return {
      offset,
      headLength,
      head: head.subarray(0, headLength),
      tail: reader.before(offset),
      pass: cursor.pass,
      lastTime,
    };
  }

  return {
    peek(): CapturedRecord | undefined {
      current ??= readNext();
      return current;
    },
    take(): void {
      current = undefined;
    },
    close: () => closeSync(fd),
  };
}

/** A cursor as the spool keeps it: hashes in place of the bytes. */
export const sealCursor = (cursor: Cursor): Cursor => ({
  ...cursor,
  head: fingerprint(cursor.head),
  tail: fingerprint(cursor.tail),
});

export function timeOf(events: readonly CapturedEvent[]): number | undefined {
  for (const { payload } of events) {
    const time = Date.parse(payload.occurredAt ?? '');
    if (!Number.isNaN(time)) return time;
  }
  return undefined;
}

/** Agents write it at the top of a record or of what the record wraps. */
function folderOf(record: JsonObject): string | undefined {
  const { payload } = record;
  const inner = typeof payload === 'object' && payload !== null ? (payload as JsonObject).cwd : undefined;
  return [record.cwd, inner].find((cwd) => typeof cwd === 'string');
}
