import { startWire, type Wire } from '../../test/wire.ts';
import { openStore } from '../store/open.ts';
import type { Patience } from '../store/postgres.ts';
import { openTestStore, type TestStore } from './engines.ts';

/** A store on a distant PostgreSQL, over a wire that can be cut. */
export interface WiredStore {
  /** The same store over a direct connection. */
  own: TestStore;
  wire: Wire;
  far: TestStore;
  /** Cuts the wire, and removes the store's data. */
  dispose(): Promise<void>;
}

export async function openWiredStore(patience?: Patience): Promise<WiredStore> {
  const own = await openTestStore('postgres');
  const url = new URL(String(own.databaseUrl));
  const wire = await startWire(Number(url.port));
  url.port = String(wire.port);
  const far = await openStore({
    dataDir: own.dataDir,
    databaseUrl: url.href,
    patience,
    onError: () => undefined,
  });
  return {
    own,
    wire,
    far: { ...own, ...far },
    async dispose() {
      await far.close().catch(() => undefined);
      await wire.cut().catch(() => undefined);
      await own.dispose();
    },
  };
}
