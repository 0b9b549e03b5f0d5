import { sql } from 'kysely';
import { formatCount } from '../contract/count.ts';
import type { Config } from './config.ts';
import { DaySums } from './derive/day-sums.ts';
import { createDeriveThread } from './derive/derive-thread.ts';
import { Indexer } from './derive/indexer.ts';
import { readPriceList } from './derive/prices/price-list.ts';
import { readVersion } from './derive/version.ts';
import { removeAllDerived } from './store/derived-removal.ts';
import { openStore } from './store/open.ts';
import { oneRow } from './store/rows.ts';

/**
 * Removes all derived data, and derives it again from the events.
 * @throws if the store cannot be opened; the embedded one cannot while a service runs
 */
export async function reindex(config: Config, write: (line: string) => void): Promise<void> {
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, PRICES_FILE } = config;
  let failed = 0;
  const onError = (error: unknown) => {
    failed++;
    write(`Something failed, and the service will try it again: ${(error as Error).message}`);
  };
  const store = await openStore({ dataDir, databaseUrl, onError });
  const thread = createDeriveThread(PRICES_FILE);
  const version = await readVersion(store.db, readPriceList(PRICES_FILE).fingerprint);
  const indexer = new Indexer({ db: store.db, thread, version, now: Date.now, onError, rests: false });
  const daySums = new DaySums(store, onError);
  try {
    await removeAllDerived(store.db);
    write('The derived data is removed, and is now derived again. If this is stopped, the service does the rest.');
    await indexer.catchUp();
    await daySums.catchUp();
    const { sessions } = await oneRow(
      store.db,
      sql<{ sessions: number | string }>`select count(*) as sessions from session_facts`,
    );
    write(
      `Derived ${formatCount(Number(sessions), 'session')}${failed > 0 ? `, with ${formatCount(failed, 'failure')}` : ''}.`,
    );
  } finally {
    await indexer.close();
    await daySums.close();
    await thread.close();
    await store.close();
  }
}
