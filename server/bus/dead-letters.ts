import type { StoredMsg } from '@nats-io/jetstream';
import type pg from 'pg';
import { applyNumbered } from '../store/postgres-apply.ts';
import type { Bus } from './bus.ts';
import { isOwnFault, REASONS, readTask } from './task.ts';

/** Writes a line for each dead letter, oldest first: its number, its time, its subject and the reason. */
export async function listDeadLetters(bus: Bus, write: (line: string) => void): Promise<void> {
  for await (const letter of deadLetters(bus)) write(describe(letter, letter.header.get('Capture-Reason')));
}

/**
 * Writes the dead letters to the store that it accepts by now, and keeps the rest. Writes a line with the outcome of each.
 * @throws errors of the store that no single letter causes
 */
export async function retryDeadLetters(bus: Bus, pool: pg.Pool, write: (line: string) => void): Promise<void> {
  for await (const letter of deadLetters(bus)) {
    const reason = await writeAgain(pool, letter);
    if (reason === undefined) await bus.removeDeadLetter(letter.seq);
    write(describe(letter, reason ?? 'is settled'));
  }
}

/** @returns the reason if it still cannot be written */
async function writeAgain(pool: pg.Pool, { header, data }: StoredMsg): Promise<string | undefined> {
  const task = readTask({ subject: header.get('Capture-Subject'), headers: header, data }, Date.now());
  if (typeof task === 'string') return task;
  try {
    const { append, close, deletion } = task;
    const { appends, closes } = await applyNumbered(pool, {
      appends: append ? [append] : [],
      closes: close ? [close] : [],
      deletions: deletion ? [deletion] : [],
    });
    const [result] = [...appends, ...closes];
    return result && REASONS[result];
  } catch (error) {
    if (!isOwnFault(error)) throw error;
    return String(error);
  }
}

const describe = ({ seq, time, header }: StoredMsg, what: string) =>
  `${seq} ${time.toISOString()} ${header.get('Capture-Subject')}: ${what}`;

async function* deadLetters(bus: Bus): AsyncGenerator<StoredMsg> {
  for (let letter = await bus.findDeadLetter(1); letter; letter = await bus.findDeadLetter(letter.seq + 1))
    yield letter;
}
