import type { Change } from '../../log/journal.ts';
import type { Settled } from './change-group.ts';

/** A job for a thread of the embedded store, which runs one after the other and answers each once. */
export type Job =
  | ({ kind: 'query' } & Statement)
  /** A query that sees what is committed only, also on the thread that writes. */
  | ({ kind: 'read' } & Statement)
  /** One transaction, not synced; rolled back, and answered false, if the first statement changes no row. */
  | { kind: 'derived'; statements: readonly Statement[] }
  /** Shares one commit with those that wait beside it; answered once it is durable. */
  | { kind: 'change'; change: Change }
  /** Gives back the memory that earlier jobs took. */
  | { kind: 'rest' }
  | { kind: 'close' };

export interface Statement {
  sql: string;
  parameters: readonly unknown[];
}

export interface Rows {
  rows: unknown[];
  /** Rows written; absent for a query that returns rows. */
  changes?: number;
}

export interface Answers {
  query: Rows;
  read: Rows;
  derived: boolean;
  change: Settled;
  rest: undefined;
  close: undefined;
}

/** An error in a form that can be sent between threads. */
export interface SentError {
  message: string;
  code?: string | undefined;
  /** SQLite's extended result code. */
  errcode?: number | undefined;
}

export type Reply = { answer: unknown } | { error: SentError };
/** Replies to as many jobs, in their order. */
export type Replies = readonly Reply[];

/** How a thread opens the file. */
export interface ThreadOptions {
  path: string;
  readOnly: boolean;
  /** All its reads are one transaction. */
  isSnapshot?: boolean;
}
