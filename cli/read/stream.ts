import { hash } from 'node:crypto';
import { closeSync } from 'node:fs';
import type { Agent, Origin, RecordPlace } from '../agents/agent.ts';
import type { Cursor } from '../spool/files.ts';
import { fingerprint, HEAD_BYTES, readAt } from './cursor.ts';
import { createLineReader, type LineOptions } from './lines.ts';
import { type CapturedRecord, folderOf, parseRecord, type RecordStream, timeOf, unreadableEvent } from './record.ts';
import { readValues, type Value } from './values.ts';

export interface StreamOptions {
  agent: Agent;
  path: string;
  origin: Origin;
  fd: number;
  cursor: Cursor;
  lines: LineOptions;
}

/** The records of an open file from its cursor on, in the order of the file. */
export function createRecordStream({ agent, path, origin, fd, cursor, lines }: StreamOptions): RecordStream {
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
    const folder = record && folderOf(record, agent);
    const identity = key === undefined ? value.bytes : Buffer.from(`${agent.id} ${key}`);
    const events = (record && parseRecord(agent, record, place)) ?? [unreadableEvent(agent, value, place)];
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
