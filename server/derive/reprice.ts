import { readPriced, writeCosts } from '../store/costs.ts';
import type { Db } from '../store/open.ts';
import { rememberSetting, writeSetting } from '../store/settings.ts';
import type { Prices } from './prices.ts';
import type { DeriveThread } from './thread.ts';

const SETTING = 'prices';

/**
 * Orders sessions by what they cost by the present prices, where others were in force before. What a session costs is
 * computed whenever it is shown; the column is there to order by.
 */
export async function reprice(db: Db, thread: DeriveThread, prices: Prices, signal: AbortSignal): Promise<void> {
  const before = await rememberSetting(db, SETTING, () => prices.fingerprint);
  if (before === prices.fingerprint) return;
  for (let after = ''; !signal.aborted; ) {
    const rows = await readPriced(db, after);
    const last = rows.at(-1);
    if (!last) return writeSetting(db, SETTING, prices.fingerprint);
    const costs = await thread.price(rows.map(({ facts }) => facts));
    const changed = rows.flatMap((row, at) => (row.cost === costs[at] ? [] : [{ ...row, cost: costs[at] ?? null }]));
    await writeCosts(db, changed);
    after = last.session_id;
  }
}
