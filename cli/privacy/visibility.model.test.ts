import { afterEach, expect, test, vi } from 'vitest';
import { patience, SEED, seeded, times } from '../../contract/test/runs.ts';
import { makeFolder } from '../test/folder.ts';
import { createRandom } from '../test/random.ts';
import { startService } from '../test/service.ts';
import { VisibilityWorld } from '../test/visibility-world.ts';

const STEPS = 30;

afterEach(() => void vi.restoreAllMocks());

test(
  `whatever agents, a person, the network and the service do, nothing arrives where more people see it ${seeded}`,
  async () => {
    let arrived = 0;
    for (let history = 0; history < times(4); history++) {
      const seed = (SEED + history) % 2 ** 31;
      const service = await startService();
      const world = new VisibilityWorld(makeFolder(), createRandom(seed), { seed, service });
      vi.spyOn(Date, 'now').mockImplementation(() => world.now);
      try {
        for (let step = 0; step < STEPS; step++) await world.step();
        await world.sync(true);
        world.checkComplete();
      } catch (error) {
        throw new Error(`Seed ${seed}`, { cause: error });
      } finally {
        world.close();
        await service.stop();
      }
      arrived += world.arrived;
    }
    // A run without any arrivals proves nothing.
    expect(arrived).toBeGreaterThan(0);
  },
  patience(60_000),
);
