import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from '../store/schema.ts';
import {
  listPriced,
  type ModelTokens,
  type PricedDay,
  readModelTokens,
  type SessionCosts,
  writeCosts,
} from '../store/session-rows.ts';
import { rememberSetting, writeSetting } from '../store/settings.ts';
import type { Prices } from './prices.ts';

const SETTING = 'prices';

/** How long it waits before each retry, in milliseconds. Together the waits are longer than most outages of a store. */
const RETRY_AFTER_MS = [60_000, 300_000, 1_800_000, 3_600_000];

/**
 * Prices all sessions again after the price table has changed: the rows of their days, and the column that orders lists.
 * @throws the error of the last attempt; the next start of the service retries
 */
export async function reprice(
  db: Db,
  prices: Prices,
  signal: AbortSignal,
  retryAfterMs: readonly number[] = RETRY_AFTER_MS,
): Promise<void> {
  for (const afterMs of retryAfterMs) {
    try {
      return await repriceAll(db, prices, signal);
    } catch {
      await wait(afterMs, undefined, { signal });
    }
  }
  await repriceAll(db, prices, signal);
}

/** Makes the next start of the service price all sessions again. */
export const forgetPrices = (db: Db): Promise<void> => writeSetting(db, SETTING, '');

/** @throws after all sessions were tried, if some of them failed */
async function repriceAll(db: Db, prices: Prices, signal: AbortSignal): Promise<void> {
  const before = await rememberSetting(db, SETTING, () => prices.fingerprint);
  if (before === prices.fingerprint) return;
  // Until all sessions have these prices, their costs use different tables.
  await writeSetting(db, SETTING, '');
  let failed = 0;
  let cause: unknown;
  for (let after = ''; !signal.aborted; ) {
    const ids = await listPriced(db, after);
    const last = ids.at(-1);
    if (last === undefined) {
      if (failed === 0) return writeSetting(db, SETTING, prices.fingerprint);
      throw new Error(`sessions that could not be priced again: ${failed}`, { cause });
    }
    const rows = await readModelTokens(db, ids);
    for (const own of Map.groupBy(rows, (row) => row.session_id).values()) {
      try {
        await repriceSession(db, own, prices);
      } catch (error) {
        failed++;
        cause ??= error;
      }
    }
    after = last;
  }
}

async function repriceSession(db: Db, rows: readonly ModelTokens[], prices: Prices): Promise<void> {
  const { days } = costsOf(rows, prices);
  const isSame = days.every(({ cost, unpriced_tokens }, at) => {
    return cost === rows[at]?.cost && unpriced_tokens === rows[at]?.unpriced_tokens;
  });
  const [session] = rows;
  if (!session || isSame) return;
  await writeCosts(db, session, (current) => costsOf(current, prices));
}

function costsOf(rows: readonly ModelTokens[], prices: Prices): SessionCosts {
  const days = rows.map((row): PricedDay => {
    const { day, name, input_tokens: input, output_tokens: output } = row;
    const cost = prices.costOf(name, day, [input, row.cached_tokens, row.cache_write_tokens, output]);
    return { day, name, cost: cost ?? 0, unpriced_tokens: cost === undefined ? input + output : 0 };
  });
  const isKnown = rows.some((row, at) => row.input_tokens + row.output_tokens > (days[at]?.unpriced_tokens ?? 0));
  return { days, cost: isKnown ? days.reduce((sum, { cost }) => sum + cost, 0) : null };
}
