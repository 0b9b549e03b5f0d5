import { listPriced, type PricedDay, writeCosts } from '../store/costs.ts';
import type { Db } from '../store/open.ts';
import { readModelTokens } from '../store/session-days.ts';
import { rememberSetting, writeSetting } from '../store/settings.ts';
import type { Prices } from './prices.ts';

const SETTING = 'prices';

/** Prices all sessions again after the price table has changed: the rows of their days, and the column that orders lists. */
export async function reprice(db: Db, prices: Prices, signal: AbortSignal): Promise<void> {
  const before = await rememberSetting(db, SETTING, () => prices.fingerprint);
  if (before === prices.fingerprint) return;
  for (let after = ''; !signal.aborted; ) {
    const ids = await listPriced(db, after);
    const last = ids.at(-1);
    if (last === undefined) return writeSetting(db, SETTING, prices.fingerprint);
    const rows = await readModelTokens(db, ids);
    for (const own of Map.groupBy(rows, (row) => row.session_id).values()) await repriceSession(db, own, prices);
    after = last;
  }
}

type ModelRow = Awaited<ReturnType<typeof readModelTokens>>[number];

async function repriceSession(db: Db, rows: readonly ModelRow[], prices: Prices): Promise<void> {
  const priced = rows.map((row): PricedDay => {
    const { day, name, input_tokens: input, output_tokens: output } = row;
    const cost = prices.costOf(name, day, [input, row.cached_tokens, row.cache_write_tokens, output]);
    return { day, name, cost: cost ?? 0, unpriced_tokens: cost === undefined ? input + output : 0 };
  });
  const isSame = priced.every(({ cost, unpriced_tokens }, at) => {
    return cost === rows[at]?.cost && unpriced_tokens === rows[at]?.unpriced_tokens;
  });
  const [session] = rows;
  if (!session || isSame) return;
  const isKnown = rows.some((row, at) => row.input_tokens + row.output_tokens > (priced[at]?.unpriced_tokens ?? 0));
  await writeCosts(db, session, priced, isKnown ? priced.reduce((sum, { cost }) => sum + cost, 0) : null);
}
