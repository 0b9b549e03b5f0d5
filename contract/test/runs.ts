/**
 * Of every random test; told by one that fails. One seed for a whole run, given by `vitest.config.ts`;
 * `CAPTURE_TEST_SEED=…` repeats it.
 */
export const SEED = Number(process.env.CAPTURE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** For the names of tests that do not say by themselves which seed they had. */
export const seeded = `(CAPTURE_TEST_SEED=${SEED})`;

const FACTOR = Number(process.env.CAPTURE_TEST_RUNS ?? 1);

/** How often a random test tries something: `CAPTURE_TEST_RUNS=10` makes it ten times as often. */
export const times = (count: number): number => Math.max(1, Math.round(count * FACTOR));

/** The parameters of a property that is to be tried so often. */
export const runs = (count: number) => ({ seed: SEED, numRuns: times(count) });

/** The milliseconds a test may take that tries so often. */
export const patience = (ms: number): number => ms * Math.max(1, FACTOR);
