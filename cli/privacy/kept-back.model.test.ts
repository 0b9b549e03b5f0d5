import { afterEach, expect, test, vi } from 'vitest';
import { patience, SEED, seeded, times } from '../../contract/test/runs.ts';
import { ConsentWorld } from '../test/consent-world.ts';
import { makeFolder } from '../test/folder.ts';
import { createRandom } from '../test/random.ts';

const STEPS = 30;
/** The most histories that a run tries until something has arrived. */
const MOST = 100;

afterEach(() => void vi.restoreAllMocks());

test(
  `whatever agents, a person and the disk do, nothing leaves that was kept back ${seeded}`,
  async () => {
    let arrived = 0;
    // A run without any arrivals proves nothing, so it goes on until something has arrived.
    for (let history = 0; history < times(12) || (arrived === 0 && history < MOST); history++) {
      const seed = (SEED + history) % 2 ** 31;
      const world = new ConsentWorld(makeFolder(), createRandom(seed), seed);
      vi.spyOn(Date, 'now').mockImplementation(() => world.now);
      try {
        for (let step = 0; step < STEPS; step++) await world.step();
        await world.sync(true);
        world.checkComplete();
      } catch (error) {
        throw new Error(`Seed ${seed}`, { cause: error });
      } finally {
        world.close();
      }
      arrived += world.arrived;
    }
    expect(arrived).toBeGreaterThan(0);
  },
  patience(60_000),
);
