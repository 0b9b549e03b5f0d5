import type { StoredMsg } from '@nats-io/jetstream';
import type pg from 'pg';
import { isUnavailable } from '../store/dialect.ts';
import { persist } from '../store/persist.ts';
import type { Bus } from './bus.ts';
import { asideOf } from './streams.ts';
import { REASONS, readTask } from './task.ts';

/** Writes a line for each message that was set aside, oldest first: its number, when, its subject, and why. */
export async function listSetAside(bus: Bus, write: (line: string) => void): Promise<void> {
  for await (const message of setAside(bus)) write(describe(message, message.header.get('Capture-Reason')));
}

/** Writes to the store what can be written by now, and keeps the rest; says of each what became of it. */
export async function retrySetAside(bus: Bus, pool: pg.Pool, write: (line: string) => void): Promise<void> {
  for await (const message of setAside(bus)) {
    const reason = await writeAgain(bus, pool, message);
    if (reason === undefined) await bus.manager.streams.deleteMessage(asideOf(bus.name), message.seq);
    write(describe(message, reason ?? 'is done with'));
  }
}

/** @returns why it still cannot be written */
async function writeAgain(bus: Bus, pool: pg.Pool, { header, data }: StoredMsg): Promise<string | undefined> {
  const task = await readTask(bus, { subject: header.get('Capture-Subject'), headers: header, data });
  if (typeof task === 'string') return task;
  try {
    const { append, close } = task;
    const { appends, closes } = await persist(pool, append ? [append] : [], close ? [close] : []);
    const [fate] = [...appends, ...closes];
    return fate && REASONS[fate];
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return String(error);
  }
}

const describe = ({ seq, time, header }: StoredMsg, what: string) =>
  `${seq} ${time.toISOString()} ${header.get('Capture-Subject')}: ${what}`;

async function* setAside({ name, manager }: Bus): AsyncGenerator<StoredMsg> {
  const { state } = await manager.streams.info(asideOf(name));
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(asideOf(name), { seq });
    if (message) yield message;
  }
}
