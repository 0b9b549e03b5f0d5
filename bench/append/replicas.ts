import { startNatsServer } from '../../test/nats.ts';
import type { Options } from '../options.ts';
import { createDatabase, startPostgres } from '../postgres.ts';
import { withFolder } from '../process.ts';
import { median, type Row } from '../report.ts';
import { loadService } from './measure.ts';

/**
 * Compares two replicas on one bus and one PostgreSQL with a single replica, each with its own load. Since all processes share
 * two processors, the rate cannot rise; the criterion is that the processor time of an append does not rise.
 */
export async function benchReplicas({ seconds, rounds }: Options): Promise<Row[]> {
  const [postgres, nats] = [await startPostgres(), await startNatsServer()];
  const costs: Record<1 | 2, number[]> = { 1: [], 2: [] };
  const rates: Record<1 | 2, number[]> = { 1: [], 2: [] };
  try {
    for (let round = 0; round < rounds; round++) {
      for (const replicas of [1, 2] as const) {
        const databaseUrl = await createDatabase(postgres.url);
        const load = { batchSize: 10, encoding: 'zstd', seconds } as const;
        const env = { BUS_URL: nats.url, ROLE: 'api' };
        const one = () => withFolder((dataDir) => loadService({ dataDir, databaseUrl }, load, env));
        const measured = await Promise.all(Array.from({ length: replicas }, one));
        const rate = measured.reduce((sum, { rate }) => sum + rate, 0);
        rates[replicas].push(rate);
        costs[replicas].push(measured.reduce((sum, { rate: own, service }) => sum + (own * service) / rate, 0));
      }
    }
  } finally {
    await postgres.stop();
    await nats.dispose();
  }
  const ratios = costs[2].map((cost, round) => cost / (costs[1][round] ?? Number.NaN));
  const told = (replicas: 1 | 2) =>
    `${Math.round(median(rates[replicas]))}/s, ${Math.round(median(costs[replicas]))} µs`;
  const detail = `one: ${told(1)}; two: ${told(2)}; appends of 10 × 1 KiB`;
  const gained = rates[2].map((rate, round) => rate / (rates[1][round] ?? Number.NaN));
  return [
    { what: 'CPU of an append, two replicas ÷ one', figure: median(ratios), unit: '×', goal: '≤ 1.1', detail },
    {
      what: 'rate of two replicas ÷ one',
      figure: median(gained),
      unit: '×',
      goal: '≥ 1.7 where processors allow',
      detail,
    },
  ];
}
