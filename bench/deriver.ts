import { deriveSession } from '../server/derive/derive-session.ts';
import { createDeriveThread } from '../server/derive/derive-thread.ts';
import { readPriceList } from '../server/derive/prices/price-list.ts';
import { readVersion } from '../server/derive/version.ts';
import type { Store } from '../server/store/open.ts';

/** Derives sessions of a store one after the other, as the service does. */
export async function createDeriver({ db }: Pick<Store, 'db'>, organizationId: string) {
  const thread = createDeriveThread();
  const version = await readVersion(db, readPriceList().fingerprint);
  const { signal } = new AbortController();
  const options = { db, derive: thread.derive, version, now: Date.now, rest: async () => undefined, signal };
  return {
    derive: (sessionId: string) => deriveSession(options, organizationId, sessionId),
    close: () => thread.close(),
  };
}
