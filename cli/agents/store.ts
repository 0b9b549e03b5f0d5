export type JsonObject = { [key: string]: unknown };

/**
 * For agents that do not write lines of JSON: where the records of a transcript are. Pure like the parsers, the contents
 * are handed in. A store is read again when it changes; what was captured of it before is recognised by its text, so a
 * record that was written again is captured again, and its events should carry `source.revision`.
 */
export type Store = DocumentStore | DatabaseStore;

/** For an agent that keeps several kinds. */
export type StoreByPath = (path: string) => Store | undefined;

/** How the records of one of an agent's transcripts are had; undefined where they are lines of JSON. */
export const storeOf = ({ store }: { store?: Store | StoreByPath }, path: string): Store | undefined =>
  typeof store === 'function' ? store(path) : store;

/** A file that is written anew as a whole, such as a JSON document. */
export interface DocumentStore {
  kind: 'document';
  /** The sessions in the file. Throws where the text is no such document, as while it is being written. */
  split(text: string): DocumentSession[];
  /**
   * Whether the agent will soon write a record again, such as an answer that grows or the time of the last change. It is
   * captured once the file has been left alone for a while, so that not every writing of it becomes a revision.
   */
  isUnsettled?(record: JsonObject, isLast: boolean): boolean;
}

export interface DocumentSession {
  /** What tells it from the file's other sessions; empty where there is one. */
  name: string;
  records: JsonObject[];
  /** The folder the agent worked in, where its first record does not say so. */
  folder?: string | undefined;
}

/** A SQLite database that the agent keeps all its sessions in. */
export interface DatabaseStore {
  kind: 'database';
  sessions(query: Query): DatabaseSession[];
  /**
   * The records of a session that changed at or after a time, in the session's order. Every record from `since: 0` on
   * begins with what identifies the session.
   */
  records(query: Query, session: string, since: number): Iterable<StoredRecord>;
}

export interface DatabaseSession {
  name: string;
  /** When anything in it changed last, in milliseconds since 1970. */
  changedAt: number;
  /** What changes whenever the session does, where the time does not always. */
  stamp?: string;
}

export interface StoredRecord {
  record: JsonObject;
  /** A number that the record keeps, such as its row's. */
  position: number;
  changedAt: number;
  /** Still being written: captured once it is complete, or once nothing has changed for a while. */
  unsettled?: boolean;
}

/** All rows of a query. Integers beyond double precision are kept exact, bytes are base64. */
export type Query = (sql: string, ...parameters: (string | number | null)[]) => JsonObject[];
