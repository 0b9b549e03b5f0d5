import { statSync } from 'node:fs';
import type { JsonObject } from '../../agents/agent.ts';
import type { DatabaseStore, DocumentSession, Store, StoredRecord } from '../../agents/store.ts';
import { describe } from '../../failure.ts';
import { readDocument, unusable, withDatabase } from './source.ts';

/** A session in a file of an agent's store. */
export interface StoredSession {
  name: string;
  /** Changes whenever the session does; empty when it may have changed since without showing it. */
  stamp: string;
}

/** The sessions of a file, each with a way to its first records. Throws an error with a `code` where it cannot be read. */
export function listSessions(store: Store, file: string, fileStamp: string, now: number): ListedSession[] {
  return guard(() => {
    if (store.kind === 'database') {
      return withDatabase(file, store.sessions).map(({ name, changedAt, stamp = String(changedAt) }) => ({
        name,
        // A later write in the same moment would go unnoticed: read it once more.
        stamp: changedAt > now - MOMENT_MS ? '' : stamp,
        readHead: () => readDatabaseHead(store, file, name),
      }));
    }
    return store.split(readDocument(file)).map(({ name, records, folder }) => {
      const head = records.slice(0, HEAD_RECORDS);
      return { name, stamp: fileStamp, folder, readHead: () => head };
    });
  });
}

export interface ListedSession extends StoredSession {
  /** Where a document says it outside its first records. */
  folder?: string | undefined;
  /** Copies would cost more: who parses one hands it over. */
  readHead(): JsonObject[];
}

/** Longer than clocks and time stamps are apart. */
export const MOMENT_MS = 2000;

/** How far a session is searched for its first time. */
const HEAD_RECORDS = 20;

const readDatabaseHead = (store: DatabaseStore, file: string, session: string): JsonObject[] =>
  guard(() =>
    withDatabase(file, (query) => {
      const records = Iterator.from(store.records(query, session, 0));
      return [...records.take(HEAD_RECORDS).map(({ record }) => record)];
    }),
  );

/** A session's records that changed at or after a time; a document tells only its own, and gives all. */
export function readSession(store: Store, file: string, session: string, since: number): StoredRecord[] {
  return guard(() => {
    if (store.kind === 'database') return withDatabase(file, (query) => [...store.records(query, session, since)]);
    const isAsked = ({ name }: DocumentSession) => name === session;
    // Asked before: what is written in between only makes it look older.
    const changedAt = statSync(file).mtimeMs;
    const { records } = store.split(readDocument(file)).find(isAsked) ?? { records: [] };
    const isLast = (position: number) => position === records.length - 1;
    return records.map((record, position) => ({
      record,
      position,
      changedAt,
      unsettled: store.isUnsettled?.(record, isLast(position)) ?? false,
    }));
  });
}

/** Whatever a store throws: the file is not what it should be, perhaps only while it is being written. */
function guard<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw error;
    throw unusable(describe(error));
  }
}
