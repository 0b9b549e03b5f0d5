import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Agent, Origin } from '../../agents/agent.ts';
import type { Store, StoredRecord } from '../../agents/store.ts';
import type { StoreCursor } from '../../spool/files.ts';
import { fingerprint } from '../cursor.ts';
import type { RecordHash } from '../identity.ts';
import { type CapturedRecord, interpret, type RecordStream } from '../record.ts';
import { readSession, type StoredSession } from './records.ts';

/** The place of a session in a store: the file below the root, the session's name in the file, and the state at discovery. */
export interface StoredPlace extends StoredSession {
  file: string;
}

export interface StoredStreamOptions {
  agent: Agent;
  store: Store;
  root: string;
  /** The path that its events name. */
  path: string;
  stored: StoredPlace;
  origin: Origin;
  cursor: StoreCursor;
  /** Unfinished records that changed at or after this time are left alone. */
  settledBefore: number;
  hashRecord: RecordHash;
}

/** The records of a session in a store that may be new. Known records are recognised by their text. */
export function createStoredStream(options: StoredStreamOptions): RecordStream {
  const { agent, store, root, path, stored, origin, cursor, settledBefore, hashRecord } = options;
  const all = readSession(store, join(root, stored.file), stored.name, cursor.position);
  const isOpen = ({ unsettled, modifiedAt }: StoredRecord) => unsettled === true && modifiedAt >= settledBefore;
  const open = all.filter(isOpen);
  const records = all.filter((record) => !isOpen(record));
  // A row that is skipped now is read again later.
  const changedUpTo = open.length > 0 ? earliest(open) : latest(all, cursor.position);
  // A document is read as a whole each time.
  const readUpTo = store.kind === 'document' ? 0 : changedUpTo;
  const stamp = open.length > 0 ? '' : stored.stamp;
  const met = new Map<string, number>();
  let lastTime = cursor.lastTime;
  let taken = 0;

  function toRecord(row: StoredRecord): CapturedRecord {
    const { record, position } = row;
    const place = { origin, file: path, position };
    const json = JSON.stringify(record);
    const bytes = Buffer.from(json);
    const interpreted = interpret(agent, record, place, { bytes });
    const { key = nameOf(json), session, folder, ended, restates, events, occurredAt } = interpreted;
    lastTime = Math.max(lastTime, occurredAt ?? 0);
    return {
      events,
      identity: hashRecord(`${agent.id} ${key}`),
      keyed: true,
      session,
      folder,
      ended,
      restates,
      unreadable: false,
      tooLong: false,
      lastTime,
      // The rows of a database are ordered by table, and each has its own time. A document has one time for everything.
      ...(store.kind === 'document' ? timesInDocument(occurredAt ?? lastTime) : timesOfRow(row, occurredAt)),
      bytes: bytes.length,
      cursor: cursorAt(taken === records.length, lastTime),
    };
  }

  /** Of two equal records, the second one is another record. */
  function nameOf(json: string): string {
    const text = hash('sha256', json);
    const count = (met.get(text) ?? 0) + 1;
    met.set(text, count);
    return `${origin.session} ${origin.subagent ?? ''} ${text} ${count}`;
  }

  /** Before the end is reached, the cursor stays at the start, so that everything is read again. */
  function cursorAt(isEnd: boolean, time: number): () => StoreCursor {
    return () => ({
      ...cursor,
      ...(isEnd && { position: readUpTo }),
      stamp: fingerprint(Buffer.from(isEnd ? stamp : '')),
      lastTime: time,
    });
  }

  return {
    next(): CapturedRecord | undefined {
      const stored = records[taken++];
      return stored && toRecord(stored);
    },
    close: () => {},
  };
}

/** The last write may have changed any part of a document. */
const timesInDocument = (occurredAt: number) => ({
  occurredAt,
  written: { from: occurredAt, to: Number.POSITIVE_INFINITY },
});

const timesOfRow = ({ modifiedAt, writtenFrom = Number.POSITIVE_INFINITY }: StoredRecord, occurredAt = modifiedAt) => ({
  occurredAt: Math.min(occurredAt, writtenFrom),
  written: { from: Math.min(occurredAt, modifiedAt, writtenFrom), to: Math.max(occurredAt, modifiedAt) },
});

const earliest = (records: readonly StoredRecord[]): number =>
  records.reduce((time, { modifiedAt }) => Math.min(time, modifiedAt), Number.POSITIVE_INFINITY);

const latest = (records: readonly StoredRecord[], before: number): number =>
  records.reduce((time, { modifiedAt }) => Math.max(time, modifiedAt), before);
