import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type NatsServer, startNatsCluster } from '../../test/nats.ts';
import type { Bus } from '../bus/bus.ts';
import { connectBus } from '../bus/connect.ts';
import type { Entry } from '../bus/entry.ts';
import { openTestStore, type TestStore } from './engines.ts';

const RACES = 300;
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
const entryOf = (replica: number, first: number): Entry => ({
  ...{ kind: 'append', plane: 'live', firstSequence: first, lastSequence: first, fingerprint: null, codec: 0 },
  ...{ key: `replica-${replica}`, appendId: String(replica).padStart(32, '0'), at: 0 },
});

describe.runIf(inject('natsUrl'))('three servers that keep three copies', () => {
  let nodes: NatsServer[];
  let store: TestStore;
  let replicas: Bus[];
  beforeAll(async () => {
    nodes = await startNatsCluster();
    store = await openTestStore('postgres');
    replicas = [];
    for (const { url } of nodes) replicas.push(await connectPatiently(url));
  }, 120_000);
  afterAll(async () => {
    for (const replica of replicas) await replica.close();
    await store.dispose();
    for (const node of nodes) await node.dispose();
  });

  /** A cluster that has just started has no leader yet. */
  const connectPatiently = (url: string): Promise<Bus> =>
    connectBus({ url, db: store.db, log: SILENT }).catch(() => connectPatiently(url));

  test('accept one of several messages that are published at once behind the same message', async () => {
    let behind = 0;
    for (let first = 1; first <= RACES; first++) {
      const publish = (bus: Bus, replica: number) =>
        bus.publish({ place: 'org.ses', entry: entryOf(replica, first), behind });
      const taken = (await Promise.all(replicas.map(publish))).filter((sequence) => sequence !== undefined);
      expect(taken).toHaveLength(1);
      behind = Number(taken[0]);
    }
  });
});
