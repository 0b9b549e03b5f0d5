import { sql } from 'kysely';
import { formatCount } from '../contract/count.ts';
import type { Config } from './config.ts';
import { openDerivedData } from './derive/derived-data.ts';
import { removeAllDerived } from './store/derived-removal.ts';
import { openStore } from './store/open.ts';
import { oneRow } from './store/rows.ts';

/**
 * Removes all derived data, and derives it again from the events.
 * @throws if the store cannot be opened; the embedded one cannot while a service runs
 */
export async function reindex(config: Config, write: (line: string) => void): Promise<void> {
  const { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, PRICES_FILE: pricesFile } = config;
  let failed = 0;
  const onError = (error: unknown) => {
    failed++;
    write(`Something failed, and the service will try it again: ${(error as Error).message}`);
  };
  const store = await openStore({ dataDir, databaseUrl, onError });
  const derived = await openDerivedData({ store, pricesFile, now: Date.now, onError, rests: false });
  try {
    await removeAllDerived(store.db);
    write('The derived data is removed, and is now derived again. If this is stopped, the service does the rest.');
    await derived.indexer.catchUp();
    await derived.daySums.catchUp();
    const { sessions } = await oneRow(
      store.db,
      sql<{ sessions: number | string }>`select count(*) as sessions from session_facts`,
    );
    write(
      `Derived ${formatCount(Number(sessions), 'session')}${failed > 0 ? `, with ${formatCount(failed, 'failure')}` : ''}.`,
    );
  } finally {
    await derived.close();
    await store.close();
  }
}
