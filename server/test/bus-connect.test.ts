import { Socket } from 'node:net';
import type { StreamConfig } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { startNatsServer } from '../../test/nats.ts';
import { startWire } from '../../test/wire.ts';
import { connectBus, promiseOf } from '../bus/connect.ts';
import { WORKERS } from '../bus/streams.ts';
import { freePort } from '../public-url.ts';
import { attach, openTestStore, type TestStore } from './engines.ts';

const info = (version: string) => ({ info: { version } }) as Parameters<typeof promiseOf>[0];

test.each([
  ['2.9.10', 1, /NATS 2\.9\.10.*in one place.*has no setting for that.*may lose what it has acknowledged/],
  ['2.9.10', 3, /in 3 places.*has no setting for that.*one machine may be lost/],
  ['2.10.0', 1, /in one place.*only if its sync_interval is always.*may lose/],
  ['2.12.1', 3, /in 3 places.*only if its sync_interval is always.*one machine may be lost/],
])('the log line for NATS %s with %d copies states its real guarantees', (version, copies, says) => {
  expect(promiseOf(info(version), copies)).toMatch(says);
});

describe.runIf(inject('natsUrl'))('connecting to a bus', () => {
  let store: TestStore;
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  const log = { info: say, warn: say, error: say };
  beforeAll(async () => {
    store = await openTestStore('postgres');
  });
  afterAll(() => store.dispose());

  test('logs the guarantees of the bus in one line', async () => {
    const bus = await connectBus({ url: String(inject('natsUrl')), db: store.db, log });
    expect(lines).toEqual([expect.stringMatching(/^event bus: NATS \d.*in one place/)]);
    await bus.remove();
  });

  test('sends all messages of one turn of the event loop in one write', async () => {
    const bus = await connectBus({ url: String(inject('natsUrl')), db: store.db, log });
    const port = Number(new URL(String(inject('natsUrl'))).port);
    const write = vi.spyOn(Socket.prototype, 'write');
    const entry = { kind: 'deleted' } as const;
    const published = Array.from({ length: 20 }, async (_, n) => {
      // As far apart as messages of different requests in one turn.
      for (let step = 0; step < n; step++) await undefined;
      return bus.publish({ place: `org.ses_${n}`, entry, behind: 0 });
    });
    const sequences = await Promise.all(published);
    const writes = write.mock.contexts.filter((socket) => (socket as Socket).remotePort === port);
    write.mockRestore();
    expect(new Set(sequences).size).toBe(20);
    expect(writes).toHaveLength(1);
    await bus.remove();
  });

  test('counts a message that is in the stream but not yet in the counts of the workers', async () => {
    const bus = await connectBus({ url: String(inject('natsUrl')), db: store.db, log });
    expect((await bus.backlog()).waiting).toBe(0);
    const before = await bus.manager.consumers.info(bus.name, WORKERS);
    await bus.publish({ place: 'org.ses_1', entry: { kind: 'deleted' }, behind: 0 });
    vi.spyOn(bus.manager.consumers, 'info').mockResolvedValue(before);
    expect((await bus.backlog()).waiting).toBe(1);
    vi.restoreAllMocks();
    await bus.remove();
  });

  test('refuses a request that was waiting when the connection was lost, before the reconnect', async () => {
    const wire = await startWire(Number(new URL(String(inject('natsUrl'))).port));
    const bus = await connectBus({ url: `nats://127.0.0.1:${wire.port}`, db: store.db, log });
    const again = (async () => {
      for await (const { type } of bus.connection.status()) if (type === 'reconnect') return;
    })();
    wire.trouble('silent');
    let outcome: unknown = 'none yet';
    void bus.next('org.ses_1', 1).catch((error) => {
      outcome = error.code;
    });
    wire.trouble('none');
    await again;
    expect(outcome).toBe('service_unavailable');
    await bus.remove();
    await wire.cut();
  });

  test('finds the streams of its own store, and no others', async () => {
    const url = String(inject('natsUrl'));
    const first = await connectBus({ url, db: store.db, log });
    const again = await attach(store.dataDir, store.databaseUrl, url);
    const other = await openTestStore('bus');
    expect(again.bus?.name).toBe(first.name);
    expect(other.bus?.name).not.toBe(first.name);
    await again.close();
    await other.dispose();
    await first.remove();
  });

  test('reports whether no server or no JetStream is there', async () => {
    const port = await freePort('127.0.0.1');
    const url = `nats://user:hunter2@127.0.0.1:${port}`;
    const refused = await connectBus({ url, db: store.db, log }).catch((error: Error) => error.message);
    expect(refused).toMatch(/^no NATS server of BUS_URL accepts a connection/);
    expect(refused).not.toContain('hunter2');
    const forgetful = await startNatsServer({ keeps: false });
    await expect(connectBus({ url: forgetful.url, db: store.db, log })).rejects.toThrow(/start it with JetStream/);
    await forgetful.dispose();
  });

  test.each<[Partial<StreamConfig>, RegExp]>([
    [{ storage: 'memory' }, /has storage memory, so it would lose events/],
    [{ max_age: nanos(300_000), max_msgs: 10 }, /has max_age and a limit that discards old messages, so/],
    [{ max_bytes: 1_000_000 }, /has a limit that discards old messages/],
    [{ max_msgs_per_subject: 10 }, /has a limit that discards old messages/],
    [{ retention: 'workqueue' }, /has retention workqueue/],
  ])('refuses a stream that may lose messages: %j', async (fields, says) => {
    const url = String(inject('natsUrl'));
    const { name, manager, remove } = await connectBus({ url, db: store.db, log });
    const { config } = await manager.streams.info(name);
    await manager.streams.delete(name);
    await manager.streams.add({ ...config, ...fields });
    await expect(connectBus({ url, db: store.db, log })).rejects.toThrow(says);
    await manager.streams.delete(name);
    await manager.streams.add({ ...config, max_bytes: 1_000_000, discard: 'new' });
    await (await connectBus({ url, db: store.db, log })).close();
    await remove();
  });

  test.each([
    ['is too old', '"version":"2.8.4"', /is 2\.8\.4; the service needs 2\.9 or later/],
    [
      'takes no append of the largest size',
      '"max_payload":1048576',
      /takes messages of up to 1048576 bytes.*set `max_payload: 16MB` or more in the configuration of every server/,
    ],
  ])('refuses a server that %s', async (_, field, says) => {
    const { port } = new URL(String(inject('natsUrl')));
    const [name] = field.split(':');
    const wire = await startWire(Number(port), (sent) =>
      Buffer.from(sent.toString('latin1').replace(new RegExp(`${name}:("[^"]+"|[0-9]+)`), field), 'latin1'),
    );
    const url = `nats://127.0.0.1:${wire.port}`;
    await expect(connectBus({ url, db: store.db, log })).rejects.toThrow(says);
    await wire.cut();
  });
});
