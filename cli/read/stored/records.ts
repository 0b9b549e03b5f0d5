import { statSync } from 'node:fs';
import type { JsonObject } from '../../agents/agent.ts';
import type { DatabaseStore, DocumentSession, Store, StoredRecord } from '../../agents/store.ts';
import { describe } from '../../failure.ts';
import { readDocument, unusable, withDatabase } from './source.ts';

/** A session in a file of an agent's store. */
export interface StoredSession {
  name: string;
  /** Changes whenever the session does. Empty if the session may have changed without a new stamp. */
  stamp: string;
}

/** The sessions of a file, each with a way to its first records. Throws an error with a `code` where the file cannot be read. */
export function listSessions(store: Store, file: string, fileStamp: string, now: number): ListedSession[] {
  return guard(() => {
    if (store.kind === 'database') {
      return withDatabase(file, store.sessions).map(({ name, modifiedAt, stamp = String(modifiedAt) }) => ({
        name,
        // A later write in the same moment would go unnoticed, so the session is read once more.
        stamp: modifiedAt > now - MOMENT_MS ? '' : stamp,
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
  /** The folder, if a document names it outside its first records. */
  folder?: string | undefined;
  /** Returns the parsed records themselves, because copies would cost more. */
  readHead(): JsonObject[];
}

/** The difference between clocks and time stamps is smaller than this. */
export const MOMENT_MS = 2000;

/** How many records of a session are searched for its first time. */
const HEAD_RECORDS = 20;

const readDatabaseHead = (store: DatabaseStore, file: string, session: string): JsonObject[] =>
  guard(() =>
    withDatabase(file, (query) => {
      const records = Iterator.from(store.records(query, session, 0));
      return [...records.take(HEAD_RECORDS).map(({ record }) => record)];
    }),
  );

/** A session's records that changed at or after a time. A document has only one time, so it returns all records. */
export function readSession(store: Store, file: string, session: string, since: number): StoredRecord[] {
  return guard(() => {
    if (store.kind === 'database') return withDatabase(file, (query) => [...store.records(query, session, since)]);
    const isAsked = ({ name }: DocumentSession) => name === session;
    // The time is read before the records. A write in between only makes the result look older.
    const modifiedAt = statSync(file).mtimeMs;
    const { records } = store.split(readDocument(file)).find(isAsked) ?? { records: [] };
    const isLast = (position: number) => position === records.length - 1;
    return records.map((record, position) => ({
      record,
      position,
      modifiedAt,
      unsettled: store.isUnsettled?.(record, isLast(position)) ?? false,
    }));
  });
}

/** Turns any error of a store into one with a code: the file is invalid, perhaps only while its agent writes it. */
function guard<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw error;
    throw unusable(describe(error));
  }
}
