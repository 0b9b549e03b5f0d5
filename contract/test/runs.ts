/**
 * The seed of every random test. A failing test prints it. `vitest.config.ts` sets one seed for the whole run;
 * `CAPTURE_TEST_SEED=…` repeats it.
 */
export const SEED = Number(process.env.CAPTURE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** For the names of tests that do not print their seed themselves. */
export const seeded = `(CAPTURE_TEST_SEED=${SEED})`;

const FACTOR = Number(process.env.CAPTURE_TEST_RUNS ?? 1);

/** The number of tries of a random test: `CAPTURE_TEST_RUNS=10` makes it ten times as large. */
export const times = (count: number): number => Math.max(1, Math.round(count * FACTOR));

/** The parameters of a property with this many tries. */
export const runs = (count: number) => ({ seed: SEED, numRuns: times(count) });

/** The timeout in milliseconds of a test that repeats its tries. */
export const patience = (ms: number): number => ms * Math.max(1, FACTOR);
