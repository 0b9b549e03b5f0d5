import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** A request to the service, its answer, or another observation; `at` is in milliseconds of the monotonic clock. */
export type Line = { at: number } & (
  | { send: string; session: string; count: number }
  /** `first` and `last` are present if the append was accepted. */
  | { answer: string; status: number; code?: string; first?: number; last?: number }
  /** The connection broke, or no answer came in time: the append may or may not have been accepted. */
  | { unanswered: string }
  | { closed: string }
  /** The deletion of the session begins; from `deleted` on it is gone. */
  | { deleting: string }
  | { deleted: string }
  /** From here on the session expires at the service's next sweep, unless an append arrives first. */
  | { aged: string }
  /** A fault begins, and its repair. They explain the answers around them. An answer during a cut of the power is no promise. */
  | { fault: string }
  | { mended: string }
  /** A reader saw this many events of the session, and this text in the last one. */
  | { read: string; count: number; text?: string }
);

type LineWithoutTime = Line extends infer One ? (One extends Line ? Omit<One, 'at'> : never) : never;

/** An append-only file that no fault affects. */
export interface History {
  write(line: LineWithoutTime): void;
  close(): void;
}

export function createHistory(path: string): History {
  const file = openSync(path, 'a');
  return {
    write: (line) => void writeSync(file, `${JSON.stringify({ at: performance.now(), ...line })}\n`),
    close: () => closeSync(file),
  };
}

export const readHistory = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as Line);

/** The text that identifies an event of an append. */
export const textOf = (append: string, index: number): string => `${append}/${index}`;
