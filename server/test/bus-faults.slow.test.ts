import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { patience, seeded, times } from '../../contract/test/runs.ts';
import { type NatsServer, startNatsServer } from '../../test/nats.ts';
import { killLeftovers } from '../../test/process.ts';
import { type Service, startService } from '../../test/service.ts';
import { startWire, type Wire } from '../../test/wire.ts';
import { attach, openTestStore, type TestStore } from './engines.ts';
import { openSession } from './factories.ts';
import { settled, startTestService } from './harness.ts';
import { expectNothingLost, type Sent, send } from './load.ts';
import { createRandom, shuffle } from './seed.ts';
import { createWorld, type World } from './world.ts';

const ROUNDS = times(5);
/** Requests, answered or not, that arrive during one fault. */
const REQUESTS_A_FAULT = 60;
const WRITERS = 6;
const SESSIONS = 8;

describe.runIf(inject('natsUrl'))('replicas and workers on an event bus', () => {
  const random = createRandom();
  let nats: NatsServer;
  let store: TestStore;
  let world: World;
  let wires: { bus: Wire; store: Wire };
  const running: Record<'api' | 'worker', Service[]> = { api: [], worker: [] };

  /** Starts again if the process ends before it is ready, as a supervisor does: on a busy machine the store may be too slow. */
  const start = async (role: 'api' | 'worker'): Promise<Service> =>
    (await startOnce(role).catch(() => undefined)) ?? start(role);
  const startOnce = (role: 'api' | 'worker') =>
    startService(store.dataDir, {
      ROLE: role,
      DATABASE_URL: behind(wires.store, store.databaseUrl as string),
      BUS_URL: behind(wires.bus, nats.url),
      LOG_LEVEL: 'silent',
    });

  beforeAll(async () => {
    nats = await startNatsServer();
    const own = await openTestStore('postgres');
    store = await attach(own.dataDir, own.databaseUrl, nats.url);
    await own.close();
    wires = { bus: await startWire(portOf(nats.url)), store: await startWire(portOf(store.databaseUrl as string)) };
    for (const role of ['api', 'worker'] as const) running[role] = await Promise.all([start(role), start(role)]);
    world = await createWorld(await startTestService('bus', { ROLE: 'api' }, store));
  });
  afterAll(async () => {
    killLeftovers();
    await world.service.close();
    await store.dispose();
    await nats.dispose();
    for (const wire of Object.values(wires)) await wire.cut();
  });

  const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;

  const killed = (role: 'api' | 'worker') => ({
    async break() {
      await running[role].shift()?.end('SIGKILL');
    },
    async mend() {
      running[role].push(await start(role));
    },
  });
  const FAULTS: Record<string, { break(): Promise<void>; mend(): Promise<void> }> = {
    'a replica is killed': killed('api'),
    'a worker is killed': killed('worker'),
    'PostgreSQL is out of reach': { break: () => wires.store.cut(), mend: () => wires.store.mend() },
    'answers of the bus are lost': { break: () => wires.bus.cut(), mend: () => wires.bus.mend() },
    'the bus is killed': { break: () => nats.kill(), mend: () => nats.start() },
  };

  test(
    `keep every acknowledged event once, at its number, after any kill or cut ${seeded}`,
    async () => {
      const { ours, service } = world;
      const sent: Sent[] = [];
      const open = () => openSession(service, ours.live, ours);
      const sessionIds = await Promise.all(Array.from({ length: SESSIONS }, open));
      let requests = 0;
      let stopped = false;

      async function untilAnswered(one: Sent): Promise<void> {
        while (!(await send(anyOf(running.api), ours.live, one)) && !stopped) {
          requests++;
          await pause(20);
        }
        requests++;
      }

      async function write(writer: number): Promise<void> {
        for (let count = 0; !stopped; count++) {
          const place = Math.floor(random() * SESSIONS);
          const key = `${writer}-${count}`;
          const texts = Array.from({ length: 1 + (count % 4) }, (_, at) => `${key}/${at}`);
          const one: Sent = { sessionId: sessionIds[place] as string, key, texts };
          sent.push(one);
          await untilAnswered(one);
          const earlier = anyOf(sent);
          if (count % 10 === 5 && earlier.answer) await untilAnswered(earlier);
          if (count % 40 === 39) await replace(place, one.sessionId);
        }
      }

      /** Closes the session; after that it accepts nothing new. */
      async function replace(place: number, sessionId: string): Promise<void> {
        const url = `${anyOf(running.api).url}/v1/sessions/${sessionId}/complete`;
        const headers = { authorization: `Bearer ${ours.live}` };
        const closed = await fetch(url, { method: 'POST', headers }).catch(() => undefined);
        if (closed?.status !== 200) return;
        const late: Sent = { sessionId, key: `late-${sent.length}`, texts: ['late'] };
        while (!(await send(anyOf(running.api), ours.live, late)) && !stopped) await pause(20);
        expect(late.answer, 'an append after an acknowledged close').toBeUndefined();
        sessionIds[place] = await open().catch(() => sessionId);
      }

      const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
      const some = async () => {
        for (const enough = requests + REQUESTS_A_FAULT; requests < enough; ) await pause(5);
      };
      try {
        for (let round = 0; round < ROUNDS; round += Object.keys(FAULTS).length) {
          for (const fault of shuffle(Object.values(FAULTS), random)) {
            await some();
            await fault.break();
            await some();
            await fault.mend();
          }
        }
      } finally {
        stopped = true;
        await Promise.all(writers);
      }
      stopped = false;
      for (const one of sent) if (!one.answer && !one.refused) await untilAnswered(one);
      for (const one of sent) if (one.answer) await untilAnswered(one);
      await settled(store.bus);
      await expectNothingLost(service, ours.member, sent);
      expect((await store.bus?.backlog())?.deadLetters).toBe(0);
      const events = sent.reduce((sum, { answer, texts }) => sum + (answer ? texts.length : 0), 0);
      expect(events).toBeGreaterThan(ROUNDS * REQUESTS_A_FAULT);
      if (process.env.CAPTURE_TEST_TABLE) console.log(`${ROUNDS} faults, ${events} events, none lost, none doubled`);
    },
    patience(180_000),
  );
});

const portOf = (url: string) => Number(new URL(url).port);

function behind(wire: Wire, url: string): string {
  const far = new URL(url);
  far.port = String(wire.port);
  return far.href;
}
