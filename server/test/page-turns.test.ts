import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { streamEvents } from '../ingest/page.ts';
import { foundReadable } from '../routes/answers.ts';
import { findSession } from '../store/sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { startWorld, type World } from './world.ts';

/** Nearly as many bytes as an append may have, which compress to few. */
const EVENTS = 50;
const PAYLOAD = { text: 'again and again '.repeat(15_000) };
const CHUNK_BYTES = 64 * 1024;

describe.each(ENGINES)('a page of 12 MB from one append, on %s', (engine) => {
  let world: World;
  let sessionId: string;
  beforeAll(async () => {
    world = await startWorld(engine);
    const { service, ours } = world;
    sessionId = await openSession(service, ours.live);
    const events = Array.from({ length: EVENTS }, () => ({ eventType: 'notice', payload: PAYLOAD }));
    await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: ours.live, body: { events } });
  });
  afterAll(() => world.service.close());

  test('yields to other work after each chunk, even if its reader takes everything at once', async () => {
    const { db } = world.service.store;
    const viewer = wholeOrganization(world.ours.organizationId);
    const session = foundReadable(viewer, await findSession(db, viewer, sessionId));
    if (!session) throw new Error('the session is gone');
    const stream = await streamEvents(db, viewer, session, { from: 1, limit: EVENTS });
    let bytes = 0;
    let isRead = false;
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
    });
    stream.on('end', () => {
      isRead = true;
    });
    let turns = 0;
    for (; !isRead; turns++) await setImmediate();
    expect(bytes).toBeGreaterThan(EVENTS * PAYLOAD.text.length);
    // A payload is larger than a chunk, and is therefore sent as one chunk.
    expect(PAYLOAD.text.length).toBeGreaterThan(CHUNK_BYTES);
    expect(turns).toBeGreaterThanOrEqual(EVENTS);
  });
});
