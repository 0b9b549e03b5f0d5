import { registerEnvironment } from '../../server/store/environments.ts';
import type { Where } from '../process.ts';
import { seed, seedEvents, seedSessions } from '../seed.ts';
import { createEvents } from '../text.ts';

/** A store with the data that makes every hostile request expensive. */
export interface HostileStore {
  secret: string;
  /** Sessions to append to. */
  open: string[];
  /** A session with 60,000 events of 1 KiB. */
  long: string;
  /** Sessions with 20 events each that are not derived yet. */
  short: string[];
  /** A session with 50 events of 256 KiB of numbers. */
  numbers: string;
}

const LIST_LENGTH = 100_000;
/** `{"a":[1,1,…]}` of 256 KiB. */
const NUMBERS = { a: Array.from({ length: 128 * 1024 - 4 }, () => 1) };

export function seedHostileStore(where: Where, issuer: string, owner: string): Promise<HostileStore> {
  return seed(where, issuer, owner, async (store, made) => {
    const ids = await seedSessions(store, made, LIST_LENGTH);
    const [long = '', numbers = '', ...rest] = ids;
    const short = rest.slice(0, 100);
    // Reuse the same events, since making new ones would take longer than all measurements.
    const makeEvent = createEvents(3);
    const events = Array.from({ length: 200 }, () => makeEvent(1024));
    let next = 0;
    const repeat = () => events[next++ % events.length] as (typeof events)[number];
    await seedEvents(store, made, long, 60_000, repeat);
    for (const id of short) await seedEvents(store, made, id, 20, repeat);
    await seedEvents(store, made, numbers, 50, () => ({ eventType: 'notice', payload: NUMBERS }));
    // Add machines that only make the list of machines long.
    for (let n = 0; n < 500; n++) {
      const machine = { hostname: `machine-${n}`, platform: 'linux' as const, serviceCliVersion: '0.1.0' };
      await registerEnvironment(store.db, { ...made, secretId: 'sec_bench' }, machine, Date.now());
    }
    return { open: rest.slice(100, 150), long, short, numbers };
  });
}
