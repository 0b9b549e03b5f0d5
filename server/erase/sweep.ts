import { Failures } from '../failures.ts';

/** How many appends one statement removes. Others wait for it less than 20 ms. */
export const SWEPT_AT_ONCE = 20;

/**
 * Sweeps one session after the other until none is left or the signal is aborted. A session that cannot be swept does not stop
 * the sweep of the others.
 * @param findNext finds the first session after an id that must be swept
 * @throws what failed, after all other sessions were tried
 */
export async function sweepEach<Row extends { session_id: string }>(
  findNext: (after: string) => Promise<Row | undefined>,
  sweep: (row: Row) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const failures = new Failures();
  for (let row = await findNext(''); row && !signal?.aborted; row = await findNext(row.session_id)) {
    const swept = row;
    await failures.try(() => sweep(swept));
  }
  failures.throw();
}
