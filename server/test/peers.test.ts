import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { LiveChange } from '../../contract/extensions.ts';
import type { Visibility } from '../../contract/session.ts';
import { createPeers } from '../ingest/peers.ts';
import { type Listener, MAX_NOTICE, type Notices } from '../store/notices.ts';
import { attach, ENGINES, type TestStore } from './engines.ts';
import { openSession } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { openSigned } from './signed-in.ts';
import { startWorld, type World } from './world.ts';

describe.runIf(ENGINES.includes('postgres'))('a reader of the live stream of one of two replicas', () => {
  let world: World;
  let store: TestStore;
  let other: TestService;
  let port: number;
  beforeAll(async () => {
    world = await startWorld('postgres');
    store = await attach(world.service.store.dataDir, world.service.store.databaseUrl);
    other = await startTestService('postgres', {}, store);
    port = Number(new URL(await world.service.app.listen({ port: 0 })).port);
  });
  afterAll(async () => {
    await other.close();
    await store.close();
    await world.service.close();
  });

  async function watch(as: string) {
    const asked = get({ port, path: '/v1/organizations/me/live', headers: { authorization: `Bearer ${as}` } });
    const [reply] = (await once(asked, 'response')) as [IncomingMessage];
    let text = '';
    reply.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await expect.poll(() => text).toContain(': connected');
    return { reply, text: () => text, stop: () => asked.destroy() };
  }

  const append = (sessionId: string) =>
    other.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: world.ours.live,
      body: { events: [{ eventType: 'notice' }] },
    });

  test('sees changes of the other replica, and nothing of another organization', async () => {
    const { service, ours, theirs } = world;
    const [mine, foreign] = [await openSession(service, ours.live), await openSession(service, theirs.live, theirs)];
    const watching = await watch(ours.owner);
    await other.call('POST', `/v1/sessions/${foreign}/events`, {
      as: theirs.live,
      body: { events: [{ eventType: 'notice' }] },
    });
    await append(mine);
    await expect.poll(watching.text).toContain(`{"sessionId":"${mine}","eventCount":1,"status":"active"}`);
    expect(watching.text()).not.toContain(foreign);
    watching.stop();
  });

  test('loses a session when its person hides it on the other replica, and sees it again once they show it', async () => {
    const { ours } = world;
    const sessionId = await openSigned(world, ours.member, 'team');
    const url = `/v1/organizations/me/sessions/${sessionId}/visibility`;
    const decide = (visibility: Visibility) => other.call('PUT', url, { as: ours.member, body: { visibility } });
    const told = (eventCount: number, status = 'active') => JSON.stringify({ sessionId, eventCount, status });
    const [watching, own] = [await watch(ours.admin), await watch(ours.member)];
    await append(sessionId);
    await expect.poll(watching.text).toContain(told(1));
    await decide('private');
    await expect.poll(watching.text).toContain(told(0, 'deleted'));
    await append(sessionId);
    await expect.poll(own.text).toContain(told(2));
    expect(watching.text()).not.toContain(told(2));
    await decide('facts');
    await expect.poll(watching.text).toContain(told(2));
    expect(own.text()).not.toContain('deleted');
    watching.stop();
    own.stop();
  });

  test('loses a session with long texts when its person hides it on the other replica', async () => {
    const { ours, service } = world;
    const sessionId = await openSigned(world, ours.member, 'team');
    const texts = { title: 'planted title', repo_root: 'é'.repeat(4_096) };
    await service.store.db.updateTable('sessions').set(texts).where('session_id', '=', sessionId).execute();
    const watching = await watch(ours.admin);
    await append(sessionId);
    await expect.poll(watching.text).toContain(sessionId);
    const sent = vi.spyOn(other.store.notices as Notices, 'tell');
    const url = `/v1/organizations/me/sessions/${sessionId}/visibility`;
    await other.call('PUT', url, { as: ours.member, body: { visibility: 'private' } });
    await expect.poll(watching.text).toContain(JSON.stringify({ sessionId, eventCount: 0, status: 'deleted' }));
    expect(JSON.stringify(sent.mock.calls)).not.toContain('planted');
    watching.stop();
  });

  test('is disconnected when they are removed on the other replica, and nobody else is', async () => {
    const { ours, service } = world;
    const [watching, staying] = [await watch(ours.member), await watch(ours.owner)];
    const ended = once(watching.reply, 'end');
    const removed = await other.call('DELETE', `/v1/organizations/me/members/${ours.memberId}`, { as: ours.owner });
    expect(removed.status, removed.text).toBe(200);
    await ended;
    const sessionId = await openSession(service, ours.live, ours);
    await expect.poll(staying.text).toContain(sessionId);
    expect(watching.text()).not.toContain(sessionId);
    staying.stop();
  });

  test('is disconnected when changes may have been missed, and sees the next change after reconnecting', async () => {
    const sessionId = await openSession(world.service, world.ours.live);
    const before = await watch(world.ours.owner);
    const ended = once(before.reply, 'end');
    await store.pool?.query("select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'");
    await ended;
    const after = await watch(world.ours.owner);
    await expect
      .poll(async () => {
        await append(sessionId);
        return after.text();
      })
      .toContain(sessionId);
    after.stop();
  });
});

describe('notices to other processes', () => {
  function start(hear: (listener: Listener, texts: readonly string[]) => void) {
    const told: string[] = [];
    const seen: LiveChange[] = [];
    let missed = 0;
    let deaf = 0;
    let listener: Listener | undefined;
    const notices: Notices = {
      async tell(texts) {
        told.push(...texts);
        if (listener) hear(listener, texts);
      },
      listen(given, signal) {
        listener = given;
        given.onListening();
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve());
        });
      },
    };
    const peers = createPeers({
      notices,
      onChange: (_, change) => seen.push(change),
      onAudience: () => expect.unreachable('nobody changed who may see a session'),
      onLeft: () => expect.unreachable('nobody left'),
      onMissed: () => missed++,
      onError: (error) => expect.unreachable(String(error)),
      onListenUnavailable: () => deaf++,
    });
    return { peers, told, seen, listener: () => listener as Listener, counts: () => ({ missed, deaf }) };
  }

  const change = (number: number): LiveChange => ({ sessionId: `ses_${number}`, eventCount: 1, status: 'active' });

  test("fit PostgreSQL's limit for any number of changes, and carry the latest state of each session", async () => {
    const { peers, told, seen } = start((listener, texts) => texts.forEach(listener.onNotice));
    for (let number = 0; number < 1_000; number++) peers.tell('org_1', change(number));
    peers.tell('org_1', { ...change(7), eventCount: 2 });
    await expect.poll(() => told.length).toBeGreaterThan(5);
    expect(Math.max(...told.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(MAX_NOTICE);
    const changes = told.flatMap((text) => JSON.parse(text).changes);
    expect(changes).toHaveLength(1_000);
    expect(changes).toContainEqual(['org_1', { ...change(7), eventCount: 2 }]);
    // A process already knows its own changes.
    expect(seen).toEqual([]);
    await peers.close();
  });

  test('are forwarded if another process sent them, and malformed notices are ignored', async () => {
    const { peers, seen, listener, counts } = start((to, texts) => texts.forEach(to.onNotice));
    for (const text of ['', 'nonsense', '{}', 'null', '{"changes":3}']) listener().onNotice(text);
    listener().onNotice(JSON.stringify({ from: 'another', changes: [['org_1', change(1)]] }));
    expect(seen).toEqual([change(1)]);
    listener().onListening();
    expect(counts().missed).toBe(1);
    await peers.close();
  });

  test.each([
    [1, 'nothing comes back, as behind a pooler', () => undefined],
    [0, 'it comes back', (to: Listener, texts: readonly string[]) => texts.forEach(to.onNotice)],
  ])('are reported as unheard %s times if %s', async (times, _, hear) => {
    vi.useFakeTimers();
    const { peers, counts } = start(hear);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(counts().deaf).toBe(times);
    await peers.close();
    vi.useRealTimers();
  });
});
