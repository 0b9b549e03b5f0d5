import { findWithGap } from '../store/log-state.ts';
import { isPostgres } from '../store/postgres.ts';
import type { Db } from '../store/schema.ts';
import { rememberSetting, writeSetting } from '../store/settings.ts';
import type { Bus } from './bus.ts';

/** What assigns numbers to the events of a store. */
type NumberedBy = 'bus' | 'store';

const SETTING = 'numbered_on';
const placeOf = (bus: unknown): NumberedBy => (bus === undefined ? 'store' : 'bus');

/**
 * All processes on a store must number its events in the same place. Otherwise two of them would assign the same number to
 * different events. The first process decides.
 * @throws with a sentence if this process is configured differently
 */
export async function agreeOnNumbering(db: Db, busUrl: string | undefined): Promise<void> {
  if (!isPostgres(db)) return;
  const mine = placeOf(busUrl);
  if ((await rememberSetting(db, SETTING, () => mine)) === mine) return;
  throw new Error(REFUSALS[mine]);
}

const REFUSALS: Record<NumberedBy, string> = {
  store:
    'the events of this PostgreSQL are numbered on an event bus, and without BUS_URL this process would give the same numbers to other events; set BUS_URL to the same value as in the other processes. To leave the bus, stop all processes except workers, and run this program with BUS_URL and the words `leave bus`',
  bus: 'this PostgreSQL numbers its events itself, and with BUS_URL this process would give the same numbers to other events; remove BUS_URL. To move to the bus, stop all processes, and run this program with BUS_URL and the words `join bus`',
};

/** Makes the bus number events from now on. No process may be running. */
export const joinBus = (db: Db): Promise<void> => decide(db, 'bus');

/**
 * Makes the store number events from now on. Only workers may be running.
 * @throws with a sentence while the bus has unwritten messages or a session has a gap. The store counts only the readable
 * events, so it would assign the numbers after a gap a second time
 */
export async function leaveBus(db: Db, bus: Pick<Bus, 'backlog'>): Promise<void> {
  const { deadLetters, waiting } = await bus.backlog();
  if (waiting > 0) {
    throw new Error(
      `${waiting} messages of the bus are not written yet; start a worker, and try again once it has written them`,
    );
  }
  if (deadLetters > 0) {
    const what = deadLetters === 1 ? '1 dead letter is' : `${deadLetters} dead letters are`;
    throw new Error(
      `${what} left; \`dead-letter list\` shows the reasons, \`dead-letter retry\` writes those that can be written now`,
    );
  }
  const sessionId = await findWithGap(db);
  if (sessionId !== undefined) {
    throw new Error(`the session ${sessionId} lacks events between others; delete it before you leave the bus`);
  }
  await decide(db, 'store');
}

async function decide(db: Db, place: NumberedBy): Promise<void> {
  await rememberSetting(db, SETTING, () => place);
  await writeSetting(db, SETTING, place);
}
