import { createRandom } from '../../server/test/seed.ts';
import { simulate } from './network.ts';

/** Processor time in ms of an append of 8 events, from `docs/scaling.md`. */
const COST = { replica: 0.54, bus: 0.055, worker: 0.46, postgres: 0.2 };
/** One-way delay between two machines of a data center, and the time of the bus to copy a message to another server, in ms. */
const HOP = 0.25;
const COPIED = 1;

interface Size {
  developers: number;
  perSecond: number;
  replicas: number;
  workers: number;
}

/** The sizes that `docs/scaling.md` computes; the smallest one has a second replica and a second worker. */
const SIZES: readonly Size[] = [
  { developers: 1_000, perSecond: 77, replicas: 2, workers: 2 },
  { developers: 100_000, perSecond: 7_700, replicas: 6, workers: 8 },
];
/** The same size without one replica and one worker at the busiest moment. */
const ONE_LESS = ({ replicas, workers, ...rest }: Size): Size => ({
  ...rest,
  replicas: replicas - 1,
  workers: workers - 1,
});

const quantile = (values: readonly number[], share: number) =>
  (values[Math.floor(share * (values.length - 1))] ?? Number.NaN).toFixed(1);
const both = (values: readonly number[]) => {
  const sorted = values.toSorted((one, other) => one - other);
  return `${quantile(sorted, 0.5)} / ${quantile(sorted, 0.99)}`;
};

/** Each process has its own processor, and the appends of a session always go to the same worker. */
function forecast({ perSecond, replicas, workers }: Size) {
  const processors = 2 * replicas + 3 * workers + 1;
  const random = createRandom(1);
  const one = (name: string, of: number) => `${name} ${Math.floor(random() * of)}`;
  return simulate({
    processors,
    asked: { perSecond },
    seconds: Math.max(10, 60_000 / perSecond),
    random,
    way: () => ({
      answered: [
        { wait: HOP },
        { at: one('replica', replicas), work: COST.replica },
        { wait: 2 * HOP + COPIED },
        { at: 'bus', work: COST.bus },
        { wait: HOP },
      ],
      afterwards: [
        { wait: HOP },
        { at: one('worker', workers), work: COST.worker },
        { wait: 2 * HOP },
        { at: one('postgres', workers), work: COST.postgres },
      ],
    }),
  });
}

console.log('| developers | replicas, workers | acknowledged, p50 / p99 ms | in the store, p50 / p99 ms |');
console.log('| ---: | --- | ---: | ---: |');
for (const size of SIZES.flatMap((size) => [size, ONE_LESS(size)])) {
  const { answered, done } = forecast(size);
  const { developers, replicas, workers } = size;
  console.log(`| ${developers.toLocaleString('en')} | ${replicas}, ${workers} | ${both(answered)} | ${both(done)} |`);
}
