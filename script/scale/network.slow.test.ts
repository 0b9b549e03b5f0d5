import { describe, expect, test } from 'vitest';
import { createRandom } from '../../server/test/seed.ts';
import { type Network, simulate } from './network.ts';

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const forecast = (given: Partial<Network>) =>
  simulate({
    processors: 8,
    asked: { perSecond: 500 },
    way: () => ({ answered: [{ at: 'service', work: 1 }] }),
    seconds: 200,
    // A fixed seed, since some seeds give results further from the mean.
    random: createRandom(1),
    ...given,
  });

/** Exact results of queueing theory (Kleinrock, Queueing Systems, volume 1, sections 3.2 and 4.3). */
describe('the simulation agrees with queueing theory for', () => {
  test.each([
    [500, 2],
    [700, 1 / 0.3],
    [900, 10],
  ])('one process with %i requests a second', (perSecond, expected) => {
    const { answered } = forecast({ asked: { perSecond }, seconds: 1_000 });
    expect(mean(answered) / expected).toBeCloseTo(1, 0.8);
  });

  test('two processes in sequence', () => {
    const way = () => ({ answered: [{ at: 'one', work: 1 }], afterwards: [{ at: 'other', work: 1 }] });
    const { answered, done } = forecast({ way });
    expect(mean(answered)).toBeCloseTo(2, 0.8);
    expect(mean(done)).toBeCloseTo(4, 0.5);
  });

  test('clients that wait for their answers', () => {
    // With three clients, and a pause as long as the work, the process is busy 15/16 of the time.
    const way = () => ({ answered: [{ at: 'service', work: 1 }, { wait: 1 }] });
    expect(forecast({ asked: { clients: 3 }, way }).perSecond / 1000).toBeCloseTo(15 / 16, 1.7);
  });

  test('processes that share a processor', () => {
    const way = (client: number) => ({ answered: [{ at: `service ${client % 4}`, work: 1 }] });
    expect(forecast({ processors: 1, asked: { clients: 4 }, way }).perSecond / 1000).toBeCloseTo(1, 1.7);
    expect(forecast({ processors: 2, asked: { clients: 4 }, way }).perSecond / 1000).toBeCloseTo(2, 1.2);
  });
});
