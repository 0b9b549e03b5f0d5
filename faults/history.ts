import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** What was asked of the service and what it answered; `at` in milliseconds of a clock that is never set. */
export type Line = { at: number } & (
  | { send: string; session: string; count: number }
  /** `first` and `last` where it was taken. */
  | { answer: string; status: number; code?: string; first?: number; last?: number }
  /** The connection broke, or there was no answer in time: nobody knows whether it was taken. */
  | { unanswered: string }
  | { closed: string }
  /** From here on the session is being deleted; from `deleted` on it is gone. */
  | { deleting: string }
  | { deleted: string }
  /** From here on the session expires as soon as the service looks, unless something is added to it. */
  | { aged: string }
  /** A reader saw so many events of the session, the last of them being this one. */
  | { read: string; count: number; text?: string }
);

type Told = Line extends infer One ? (One extends Line ? Omit<One, 'at'> : never) : never;

/** A file to which lines are only added, outside of everything that is broken. */
export interface History {
  write(line: Told): void;
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

/** The text of an append's event, by which it is found again. */
export const textOf = (append: string, index: number): string => `${append}/${index}`;
