import type { ChangeRequest } from '../../log/journal.ts';
import type { Settled } from './change-group.ts';

/** A job for a thread of the embedded store. The thread runs one job after the other, and replies to each once. */
export type Job =
  | ({ kind: 'query' } & Statement)
  /** A query that sees only committed data, even on the thread that writes. */
  | ({ kind: 'read' } & Statement)
  /** One transaction without a sync. If the first statement changes no row, it is rolled back and the reply is false. */
  | { kind: 'derived'; statements: readonly Statement[] }
  /** Shares one commit with the other waiting changes. The reply follows once the change is durable. */
  | { kind: 'change'; change: ChangeRequest }
  /** Releases the memory of earlier jobs. */
  | { kind: 'rest' }
  | { kind: 'close' };

export interface Statement {
  sql: string;
  parameters: readonly unknown[];
}

export interface Rows {
  rows: unknown[];
  /** The number of written rows; absent for a query that returns rows. */
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
  /** The extended result code of SQLite. */
  errcode?: number | undefined;
}

export type Reply = { answer: unknown } | { error: SentError };
/** The replies to as many jobs, in their order. */
export type Replies = readonly Reply[];

/** How a thread opens the file. */
export interface ThreadOptions {
  path: string;
  role: 'writer' | 'reader' | 'checkpointer';
  /** Whether all its reads are one transaction. */
  isSnapshot?: boolean;
}
