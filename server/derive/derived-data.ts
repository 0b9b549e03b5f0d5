import type { Store } from '../store/open.ts';
import { DaySums } from './day-sums.ts';
import { createDeriveThread, type DeriveThread } from './derive-thread.ts';
import { Indexer, type IndexerOptions } from './indexer.ts';
import { readPriceList } from './prices/price-list.ts';
import { readVersion } from './version.ts';

/** All that derives from stored events, and what readers of derived data ask it. */
export interface DerivedData {
  indexer: Indexer;
  daySums: DaySums;
  thread: DeriveThread;
  /** The version of derived data; see `version.ts`. */
  version: number;
  /** The day of the last review of the prices, YYYY-MM-DD. */
  pricesOf: string;
  close(): Promise<void>;
}

export interface DerivedDataOptions extends Omit<IndexerOptions, 'db' | 'thread' | 'version'> {
  store: Pick<Store, 'db' | 'longReads'>;
  /** As for `readPriceList`. */
  pricesFile: string | undefined;
}

/** @throws Error that says what is wrong with the file of prices */
export async function openDerivedData({ store, pricesFile, ...options }: DerivedDataOptions): Promise<DerivedData> {
  const prices = readPriceList(pricesFile);
  const version = await readVersion(store.db, prices.fingerprint);
  const thread = createDeriveThread(pricesFile);
  const indexer = new Indexer({ ...options, db: store.db, thread, version });
  const daySums = new DaySums(store, options.onError);
  return {
    indexer,
    daySums,
    thread,
    version,
    pricesOf: prices.date,
    async close() {
      // The jobs of the indexer wait for the thread.
      await Promise.all([indexer.close(), thread.close(), daySums.close()]);
    },
  };
}
