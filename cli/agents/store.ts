export type JsonObject = { [key: string]: unknown };

/**
 * Reads the records of transcripts that are not JSON lines. Pure like the parsers: it gets the contents as arguments. A store
 * is read again when it changes, and captured records are recognised by their text. A record that was written again is
 * captured again, so its events should carry `source.revision`.
 */
export type Store = DocumentStore | DatabaseStore;

/** For an agent that keeps several kinds. */
export type StoreByPath = (path: string) => Store | undefined;

/** How to read the records of one of an agent's transcripts. Undefined for JSON lines. */
export const storeOf = ({ store }: { store?: Store | StoreByPath }, path: string): Store | undefined =>
  typeof store === 'function' ? store(path) : store;

/** A file that is rewritten as a whole, such as a JSON document. */
export interface DocumentStore {
  kind: 'document';
  /** The sessions in the file. Throws if the text is not such a document, for instance while it is being written. */
  split(text: string): DocumentSession[];
  /**
   * Whether the agent will soon write a record again, such as an answer that grows or the time of the last change. It is
   * captured once the file has been left alone for a while, so that not every write becomes a revision.
   */
  isUnsettled?(record: JsonObject, isLast: boolean): boolean;
}

export interface DocumentSession {
  /** Distinguishes it from the file's other sessions. Empty if there is only one. */
  name: string;
  records: JsonObject[];
  /** The folder that the agent worked in, if its first record does not name it. */
  folder?: string | undefined;
}

/** A SQLite database in which the agent keeps all its sessions. */
export interface DatabaseStore {
  kind: 'database';
  sessions(query: Query): DatabaseSession[];
  /**
   * The records of a session that changed at or after a time, in the session's order. A full read, with `since: 0`, begins
   * with the record that identifies the session.
   */
  records(query: Query, session: string, since: number): Iterable<StoredRecord>;
  /** Counts the sessions in tables that `sessions` does not read, because a later version of the agent made them. */
  unknown?(query: Query): { table: string; count: number }[];
}

export interface DatabaseSession {
  name: string;
  /** When anything in it last changed, in milliseconds since 1970. */
  modifiedAt: number;
  /** Changes whenever the session does, for agents whose time does not always change. */
  stamp?: string;
}

export interface StoredRecord {
  record: JsonObject;
  /** A number that the record keeps, such as its row number. */
  position: number;
  /** When it was last written, in milliseconds since 1970. */
  modifiedAt: number;
  /** When its content was first written, if the record may be a later copy of it. Milliseconds since 1970. */
  writtenFrom?: number;
  /** The record is still being written. It is captured once it is complete, or once nothing has changed for a while. */
  unsettled?: boolean;
}

/** All rows of a query. Integers beyond double precision are kept exact, and bytes become base64. */
export type Query = (sql: string, ...parameters: (string | number | null)[]) => JsonObject[];
