import type { Agent, Origin, RecordPlace } from '../agents/agent.ts';
import { collectAfter } from '../memory.ts';
import type { FileCursor } from '../spool/files.ts';
import type { Bytes } from './bytes.ts';
import { fingerprint, HEAD_BYTES, readAt } from './cursor.ts';
import type { RecordHash } from './identity.ts';
import { createLineReader } from './lines.ts';
import { type CapturedRecord, interpret, type RecordStream } from './record.ts';
import { readValues, type Value } from './values.ts';

export interface StreamOptions {
  agent: Agent;
  path: string;
  origin: Origin;
  from: Bytes;
  cursor: FileCursor;
  /** How many bytes are read at once. */
  chunkBytes: number;
  maxLineBytes?: number | undefined;
  hashRecord: RecordHash;
  /** Whether the file was left alone for so long that an unterminated last line will stay so. */
  isAbandoned: boolean;
}

/** The records of an open file from its cursor on, in the order of the file. */
export function createRecordStream(options: StreamOptions): RecordStream {
  const { agent, path, origin, from, cursor, chunkBytes, maxLineBytes, hashRecord, isAbandoned } = options;
  const reader = createLineReader(from, cursor.position, chunkBytes, maxLineBytes);
  const values: Value[] = [];
  let head = readAt(from, 0, HEAD_BYTES);
  let { lastTime } = cursor;
  /** The bytes before the end of the last record, if the reader has moved beyond the next line. */
  let passed: { position: number; tail: Buffer } | undefined;

  function keepTail(position: number): void {
    passed = { position, tail: Buffer.from(reader.before(position)) };
  }

  function next(): CapturedRecord | undefined {
    for (let isFirst = true; values.length === 0; isFirst = false) {
      const line = reader.next();
      if (line === undefined) return undefined;
      collectAfter(line.bytes.length);
      const found = readValues(line);
      values.push(...(found.length === 0 && isAbandoned ? readValues({ ...line, terminated: true }) : found));
      const last = values.at(-1);
      if (last === undefined && isFirst) keepTail(line.start);
      else if (last !== undefined && !line.terminated) keepTail(last.end);
    }
    return toRecord(values.shift() as Value);
  }

  function toRecord(value: Value): CapturedRecord {
    const place: RecordPlace = { origin, file: path, position: value.start };
    const { record } = value;
    collectAfter(value.bytes.length);
    const interpreted = interpret(agent, record, place, value);
    const { key, session, folder, ended, restates, events, occurredAt, bearsEarlierTime } = interpreted;
    lastTime = Math.max(lastTime, occurredAt ?? 0);
    const isTimed = occurredAt !== undefined && !bearsEarlierTime;
    return {
      events,
      identity: hashRecord(key === undefined ? value.bytes : `${agent.id} ${key}`),
      keyed: key !== undefined,
      session,
      folder,
      ended,
      restates,
      unreadable: record === undefined,
      tooLong: record === undefined && value.bytes.length === 0,
      lastTime,
      occurredAt: occurredAt ?? lastTime,
      written: isTimed ? { from: occurredAt, to: occurredAt } : { from: lastTime, to: Number.POSITIVE_INFINITY },
      bytes: value.end - value.start,
      cursor: cursorAt(value.end, lastTime),
    };
  }

  /** Few cursors are needed. The reader still has the bytes before the last position. */
  function cursorAt(position: number, time: number): () => FileCursor {
    const headLength = Math.min(position, HEAD_BYTES);
    if (head.length < headLength) head = readAt(from, 0, HEAD_BYTES);
    return () => ({
      ...{ kind: 'file', position, headLength, pass: cursor.pass, lastTime: time },
      head: fingerprint(head.subarray(0, headLength)),
      tail: fingerprint(passed?.position === position ? passed.tail : reader.before(position)),
    });
  }

  return { next, close: () => from.close() };
}
