import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../store/schema.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

const EVENTS = 230;

interface Page {
  events: { sequence: number; payload: { n: number } }[];
  nextCursor: string | null;
}

describe.each(ENGINES)('pages of events on %s', (engine) => {
  let world: World;
  let sessionId: string;
  beforeAll(async () => {
    world = await startWorld(engine);
    const { service, ours } = world;
    sessionId = await openSession(service, ours.live);
    // Batches of 1, 2, 3 … events, so that pages begin and end within batches.
    for (let sent = 0, size = 1; sent < EVENTS; sent += size, size = Math.min(size + 1, EVENTS - sent)) {
      const events = Array.from({ length: size }, (_, at) => ({ eventType: 'notice', payload: { n: sent + at + 1 } }));
      await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body: { events } });
    }
  });
  afterAll(() => world.service.close());

  const get = async (query: string, address = 'events') => {
    const url = `/v1/organizations/me/sessions/${sessionId}/${address}${query}`;
    return world.service.call('GET', url, { as: world.ours.member });
  };
  const sequences = ({ events }: Page) => events.map(({ sequence }) => sequence);
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

  test.each([
    [
      'its last events are missing',
      (db: Db, id: string) =>
        db.deleteFrom('appends').where('first_sequence', '=', 3).where('session_id', '=', id).execute(),
    ],
    [
      'events in between are missing',
      (db: Db, id: string) =>
        db.deleteFrom('appends').where('first_sequence', '=', 2).where('session_id', '=', id).execute(),
    ],
    [
      'events cannot be read',
      (db: Db, id: string) =>
        db
          .updateTable('appends')
          .set({ body: Buffer.of(0) })
          .where('session_id', '=', id)
          .execute(),
    ],
  ])('reading a session gets 500 events_damaged if %s', async (_name, damage) => {
    const { service, ours } = world;
    const damaged = await openSession(service, ours.live);
    for (const text of ['one', 'two', 'three']) {
      const body = { events: [{ eventType: 'notice', payload: { text } }] };
      await service.call('POST', `/v1/sessions/${damaged}/events`, { as: ours.live, body });
    }
    await damage(service.store.db, damaged);
    const asked = { as: ours.member };
    const reply = await service.call('GET', `/v1/organizations/me/sessions/${damaged}/events`, asked);
    expectProblem(reply, 500, 'events_damaged');
  });

  test('the default is 100', async () => {
    const { body } = await get('');
    expect(sequences(body)).toEqual(range(1, 100));
    expect(body.nextCursor).toEqual(expect.any(String));
  });

  test.each(['0', '-1', 'abc', '1.5', '', '1e2', ' 5', '+5', '0x10', 'NaN'])(
    'the limit %j gives an empty page',
    async (limit) => {
      const { status, text } = await get(`?limit=${encodeURIComponent(limit)}`);
      expect({ status, text }).toEqual({ status: 200, text: '{"events":[],"nextCursor":null}' });
    },
  );

  test.each([EVENTS, EVENTS + 1, 100_000, 999_999_999_999_999])('a limit of %i gives everything', async (limit) => {
    const { body } = await get(`?limit=${limit}`);
    expect(sequences(body)).toEqual(range(1, EVENTS));
    expect(body.nextCursor).toBeNull();
  });

  test('one less than everything leaves one for the next page', async () => {
    const { body } = await get(`?limit=${EVENTS - 1}`);
    const rest = await get(`?cursor=${body.nextCursor}`);
    expect(sequences(rest.body)).toEqual([EVENTS]);
    expect(rest.body.nextCursor).toBeNull();
  });

  test.each([1, 7, 50, 100])('pages of %i together are the whole, and the last has no next cursor', async (limit) => {
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const { body } = (await get(`?limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`)) as { body: Page };
      expect(body.events.length).toBeLessThanOrEqual(limit);
      expect(body.events.map(({ payload }) => payload.n)).toEqual(sequences(body));
      seen.push(...sequences(body));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(range(1, EVENTS));
  });

  test('a cursor stays valid while events are appended', async () => {
    const { body } = await get('?limit=200');
    const { service, ours } = world;
    const other = await openSession(service, ours.live);
    const batch = { as: ours.live, body: { events: [{ eventType: 'notice' }] } };
    await service.call('POST', `/v1/sessions/${other}/events`, batch);
    expect(sequences((await get(`?cursor=${body.nextCursor}`)).body)).toEqual(range(201, EVENTS));
  });

  test.each(['', 'x', '%20', 'bzow', 'bzoxMA', 'czotMQ', 'czox%0A', '%00'])(
    'the cursor %j is refused',
    async (cursor) => {
      expectProblem(await get(`?cursor=${cursor}`), 400, 'validation_failed');
    },
  );

  test('a cursor beyond the end gives an empty page', async () => {
    const beyond = Buffer.from('s:1000').toString('base64url');
    expect((await get(`?cursor=${beyond}`)).body).toEqual({ events: [], nextCursor: null });
  });

  test('a window begins at the given sequence, inside a batch or at its edge', async () => {
    for (const from of [1, 2, 3, 4, 5, 55, 56, 57, 199, EVENTS]) {
      const { body } = await get(`?from=${from}&limit=3`, 'window');
      expect(sequences(body)).toEqual(range(from, Math.min(from + 2, EVENTS)));
    }
    expect((await get(`?from=${EVENTS + 1}`, 'window')).body).toEqual({ events: [], nextCursor: null });
    expect(sequences((await get('', 'window')).body)).toEqual(range(1, 100));
  });

  test('a session without events gives an empty page', async () => {
    const { service, ours } = world;
    const empty = await openSession(service, ours.live);
    const { body } = await service.call('GET', `/v1/organizations/me/sessions/${empty}/events`, { as: ours.member });
    expect(body).toEqual({ events: [], nextCursor: null });
  });

  test('a page is served in an encoding that the caller accepts', async () => {
    const url = `/v1/organizations/me/sessions/${sessionId}/events`;
    const headers = { 'accept-encoding': 'gzip', authorization: `Bearer ${world.ours.member}` };
    const reply = await world.service.app.inject({ method: 'GET', url, headers });
    expect(reply.headers['content-encoding']).toBe('gzip');
    const { gunzipSync } = await import('node:zlib');
    expect(gunzipSync(reply.rawPayload).toString()).toBe((await get('')).text);
  });
});
