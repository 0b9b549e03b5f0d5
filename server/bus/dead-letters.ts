import type { StoredMsg } from '@nats-io/jetstream';
import type pg from 'pg';
import { applyNumbered } from '../store/postgres-apply.ts';
import { type Bus, entryOf } from './bus.ts';
import { isOwnFault, REASONS, readTask } from './task.ts';

/** Writes a line for each dead letter, oldest first: its number, when it was sent, its subject, and why it is one. */
export async function listDeadLetters(bus: Bus, write: (line: string) => void): Promise<void> {
  for await (const letter of deadLetters(bus)) write(describe(letter, letter.header.get('Capture-Reason')));
}

/**
 * Writes to the store what can be written by now, and keeps the rest; says of each what became of it.
 * @throws what the store throws that no single letter is to blame for
 */
export async function retryDeadLetters(bus: Bus, pool: pg.Pool, write: (line: string) => void): Promise<void> {
  for await (const letter of deadLetters(bus)) {
    const reason = await writeAgain(bus, pool, letter);
    if (reason === undefined) await bus.removeDeadLetter(letter.seq, entryOf(letter.header));
    write(describe(letter, reason ?? 'is settled'));
  }
}

/** @returns why it still cannot be written */
async function writeAgain(bus: Bus, pool: pg.Pool, { header, data }: StoredMsg): Promise<string | undefined> {
  const task = await readTask(bus, { subject: header.get('Capture-Subject'), headers: header, data }, Date.now());
  if (typeof task === 'string') return task;
  try {
    const { append, close, deletion } = task;
    const { appends, closes } = await applyNumbered(pool, {
      appends: append ? [append] : [],
      closes: close ? [close] : [],
      deletions: deletion ? [deletion] : [],
    });
    const [fate] = [...appends, ...closes];
    return fate && REASONS[fate];
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
