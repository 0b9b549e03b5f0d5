import { closeSync, openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Context } from '../context.ts';
import { codeOf, describe, EXIT, Failure } from '../failure.ts';
import { parseExact } from '../read/exact.ts';
import type { Spool } from '../spool/open.ts';
import { readEvents } from '../upload/refuse.ts';

export interface Exported {
  waiting: number;
  refused: number;
}

/**
 * Writes every event that waits or was refused, one a line: `{"agent","session","eventType","payload"}`, and where it was
 * refused `problem` and `refusedAt`. Secrets in them are masked already.
 */
export function exportEvents(
  spool: Spool,
  { sessions, write }: { sessions: ReadonlySet<number> | undefined; write: (line: string) => void },
): Exported {
  const counts: Exported = { waiting: 0, refused: 0 };
  const isMeant = (session: number) => sessions === undefined || sessions.has(session);
  const nameOf = (id: number) => {
    const { agent, agentSession } = spool.sessions.get(id);
    return { agent, session: agentSession };
  };
  for (const { session } of spool.waiting.perSession().filter((one) => isMeant(one.session))) {
    for (const batch of spool.waiting.batches(session)) {
      for (const event of readEvents(batch) as object[]) {
        write(toLine({ ...nameOf(session), ...event }));
        counts.waiting++;
      }
    }
  }
  for (const { session, event, problem, refusedAt } of spool.waiting.refused()) {
    if (!isMeant(session)) continue;
    const told = { problem, refusedAt: new Date(refusedAt).toISOString() };
    write(toLine({ ...nameOf(session), ...(parseExact(event) as object), ...told }));
    counts.refused++;
  }
  return counts;
}

/** What could command a terminal, or hide in one, is spelled out: JSON itself escapes only some of it. */
const toLine = (value: object): string => `${JSON.stringify(value).replace(UNSAFE, escapeCharacter)}\n`;

const UNSAFE = /[\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const escapeCharacter = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Opens a new file that only its owner can read; one that is there is never written over. */
export function createExport({ folder }: Pick<Context, 'folder'>, path: string) {
  const absolute = resolve(folder, path);
  let fd: number;
  try {
    fd = openSync(absolute, 'wx', 0o600);
  } catch (error) {
    const sentence = codeOf(error) === 'EEXIST' ? `${absolute} is there already.` : describe(error);
    throw new Failure(EXIT.usage, sentence, 'Name a file that is not there yet.', error);
  }
  return { path: absolute, write: (line: string) => void writeSync(fd, line), close: () => closeSync(fd) };
}
