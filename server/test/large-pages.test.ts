import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { streamEvents } from '../ingest/page.ts';
import { foundReadable } from '../routes/answers.ts';
import type { Db } from '../store/schema.ts';
import { findSession } from '../store/sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { createRandom } from './seed.ts';
import { startWorld, type World } from './world.ts';

const BATCHES = 60;
const BATCH_BYTES = 200_000;
/** A fetch reads up to a mebibyte of stored bytes, or one append if that alone is larger. */
const MAX_FETCHED = 1024 * 1024 + 2 * BATCH_BYTES;

describe.each(ENGINES)('a very large page on %s', (engine) => {
  let world: World;
  let sessionId: string;
  beforeAll(async () => {
    world = await startWorld(engine);
    const { service, ours } = world;
    sessionId = await openSession(service, ours.live);
    const random = createRandom();
    for (let batch = 0; batch < BATCHES; batch++) {
      // Random text, so that compression does not make it small.
      const noise = Array.from({ length: BATCH_BYTES / 10 }, () => random().toString(36).slice(2, 12).padEnd(10, '_'));
      const body = { events: [{ eventType: 'notice', payload: { noise: noise.join('') } }] };
      await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body });
    }
  });
  afterAll(() => world.service.close());

  /** The same database, recording the bytes of bodies that each query returned. */
  function counted(db: Db, fetched: number[]): Db {
    return db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        const bodies = result.rows.map((row) => (row as { body?: Uint8Array }).body?.byteLength ?? 0);
        fetched.push(bodies.reduce((sum, bytes) => sum + bytes, 0));
        return result;
      },
    });
  }

  test('is fetched and written piece by piece', async () => {
    const { store } = world.service;
    const viewer = wholeOrganization(world.ours.organizationId);
    const session = foundReadable(viewer, await findSession(store.db, viewer, sessionId));
    if (!session) throw new Error('the session is gone');
    const fetched: number[] = [];
    const chunks: number[] = [];
    const stream = await streamEvents(counted(store.db, fetched), viewer, session, { from: 1, limit: 1_000_000 });
    expect(fetched.filter((bytes) => bytes > 0).length, 'fetched before anybody reads').toBeLessThanOrEqual(2);
    for await (const chunk of stream) chunks.push((chunk as Buffer).byteLength);
    const total = chunks.reduce((sum, bytes) => sum + bytes, 0);
    expect(total).toBeGreaterThan(BATCHES * BATCH_BYTES);
    expect(Math.max(...fetched)).toBeLessThanOrEqual(MAX_FETCHED);
    expect(Math.max(...chunks)).toBeLessThan(2 * BATCH_BYTES);
    expect(chunks.length).toBeGreaterThan(BATCHES / 2);
  });

  test('is complete', async () => {
    const { service, ours } = world;
    const url = `/v1/organizations/me/sessions/${sessionId}/events?limit=1000000`;
    const { body } = await service.call('GET', url, { as: ours.member });
    expect(body.events.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      Array.from({ length: BATCHES }, (_, index) => index + 1),
    );
  });
});
