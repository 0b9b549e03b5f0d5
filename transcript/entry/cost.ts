import type { Usage } from './usage.ts';

/** US dollars for a million tokens of each kind, and for a thousand web searches. */
export interface Price {
  input: number;
  cached: number;
  /** Of a cache that is kept for five minutes. */
  cacheWrite: number;
  /** Of a cache that is kept for one hour. */
  cacheWrite1h: number;
  output: number;
  /** Absent: no price is known. */
  webSearch?: number;
}

/** The counts of responses that have a price. `input` includes cached tokens, and `cacheWrite` includes those kept for an hour. */
export type Counts = Pick<Usage, 'input' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h' | 'output' | 'webSearches'>;

/** The parts of the counts, each of which has one price. */
export interface Charge {
  kind: keyof Price;
  count: number;
}

/** Splits counts into the parts that have different prices. */
export function chargesOf({ input, cacheRead, cacheWrite, cacheWrite1h, output, webSearches }: Counts): Charge[] {
  return [
    { kind: 'input', count: Math.max(0, input - cacheRead - cacheWrite) },
    { kind: 'cached', count: cacheRead },
    { kind: 'cacheWrite', count: Math.max(0, cacheWrite - cacheWrite1h) },
    { kind: 'cacheWrite1h', count: Math.min(cacheWrite, cacheWrite1h) },
    { kind: 'output', count: output },
    { kind: 'webSearch', count: webSearches },
  ];
}

/** A dollar for a million tokens is a million picodollars for a token; for a thousand searches it is a thousand times as much. */
const picodollars = (price: number, kind: keyof Price): bigint =>
  BigInt(Math.round(price * 1_000_000)) * (kind === 'webSearch' ? 1_000n : 1n);

/**
 * The cost of a response in nanodollars. It is a whole number, so that sums do not depend on their order. Sums are exact up to nine
 * million dollars.
 */
export function costAt(price: Price, counts: Counts): number {
  const total = chargesOf(counts).reduce(
    (sum, { kind, count }) => sum + BigInt(Math.trunc(count)) * picodollars(price[kind] ?? 0, kind),
    0n,
  );
  return Number((total + 500n) / 1_000n);
}

/** Nanodollars in US dollars. */
export const toDollars = (nanodollars: number): number => nanodollars / 1_000_000_000;
