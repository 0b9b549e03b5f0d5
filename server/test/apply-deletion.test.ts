import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endOrganization } from '../erase/organization-end.ts';
import { purgeOrphans, purgeRemoved } from '../erase/purge.ts';
import { newUuid } from '../ids.ts';
import { encodeFrame } from '../log/frame.ts';
import { applyNumbered } from '../store/postgres-apply.ts';
import { openSession } from './factories.ts';
import { startWorld, type World } from './world.ts';

/** Longer than an unobstructed deletion takes. */
const LONG_ENOUGH_MS = 300;

describe.runIf(process.env.ENGINE !== 'sqlite')('an append that a worker writes', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld('postgres');
  });
  afterAll(() => world.service.close());

  const appendTo = (sessionId: string) => ({
    organizationId: world.ours.organizationId,
    sessionId,
    firstSequence: 1,
    lastSequence: 1,
    appendId: newUuid(),
    at: 1,
    key: null,
    fingerprint: null,
    otherSecretId: null,
    ...encodeFrame([{ eventType: 'notice', payload: Buffer.from('{}') }]),
  });
  const appendsOf = (sessionId: string) =>
    world.service.store.db.selectFrom('appends').select('append_id').where('session_id', '=', sessionId).execute();

  const markDeleted = (sessionId: string) =>
    applyNumbered(world.service.store.pool as pg.Pool, {
      ...{ appends: [], closes: [] },
      deletions: [{ organizationId: world.ours.organizationId, sessionId, isExpired: false, at: 1 }],
    });

  /** A pool whose connections start something after the first statement of a transaction, and give it time to finish. */
  function interrupted(pool: pg.Pool, begin: () => void): pg.Pool {
    const connect = async () => {
      const client = await pool.connect();
      let statements = 0;
      const query = async (...asked: unknown[]) => {
        const answer = await (client.query as (...given: unknown[]) => Promise<unknown>)(...asked);
        if (++statements === 2) {
          begin();
          await pause(LONG_ENOUGH_MS);
        }
        return answer;
      };
      return { query, release: (fault?: boolean) => client.release(fault) };
    };
    return { connect } as unknown as pg.Pool;
  }

  test('leaves nothing behind if its session is deleted and removed during the write', async () => {
    const { service, ours } = world;
    const { db, pool } = service.store;
    const sessionId = await openSession(service, ours.live, ours);
    let deletion: Promise<void> | undefined;
    const begin = () => {
      deletion = (async () => {
        await markDeleted(sessionId);
        await purgeRemoved(db, () => 1);
      })();
    };
    await applyNumbered(interrupted(pool as pg.Pool, begin), {
      appends: [appendTo(sessionId)],
      closes: [],
      deletions: [],
    });
    await deletion;
    expect(await appendsOf(sessionId)).toEqual([]);
  });

  test('is gone if its session was removed while another replica removes it too', async () => {
    const { service, ours } = world;
    const { db } = service.store;
    const sessionId = await openSession(service, ours.live, ours);
    const appends = Array.from({ length: 50 }, (_, at) => ({
      ...appendTo(sessionId),
      firstSequence: at + 1,
      lastSequence: at + 1,
    }));
    await applyNumbered(service.store.pool as pg.Pool, { appends, closes: [], deletions: [] });
    await markDeleted(sessionId);
    // The other replica has deleted its first slice, and has not committed yet.
    const other = await (service.store.pool as pg.Pool).connect();
    await other.query('BEGIN');
    await other.query('DELETE FROM appends WHERE session_id = $1 AND first_sequence <= 20', [sessionId]);
    const purged = purgeRemoved(db, () => 1);
    await pause(LONG_ENOUGH_MS);
    await other.query('COMMIT');
    other.release();
    await purged;
    expect(await appendsOf(sessionId)).toEqual([]);
  });

  test('is removed by a later round if its session was already removed', async () => {
    const { service, ours } = world;
    const { db } = service.store;
    const sessionId = await openSession(service, ours.live, ours);
    const { firstSequence, lastSequence, appendId, codec, body } = appendTo(sessionId);
    await markDeleted(sessionId);
    await purgeRemoved(db, () => 1);
    const late = () =>
      db
        .insertInto('appends')
        .values({
          session_id: sessionId,
          first_sequence: firstSequence,
          last_sequence: lastSequence,
          organization_id: ours.organizationId,
          append_id: appendId,
          created_at: 1,
          idempotency_key: null,
          fingerprint: null,
          codec,
          body,
        })
        .execute();
    await late();
    await purgeOrphans(db);
    expect(await appendsOf(sessionId)).toEqual([]);
    // The end of its organization removes the tombstone after the round has listed it.
    await late();
    let queries = 0;
    const ending = db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (++queries === 1) await db.deleteFrom('removals').where('session_id', '=', sessionId).execute();
        return result;
      },
    });
    await purgeOrphans(ending, AbortSignal.timeout(10_000));
    expect(await appendsOf(sessionId)).toEqual([]);
  });

  test.each([
    ['was in the store before', 1],
    ['comes behind the end of the session', 2],
  ])('is gone if the content of its session has expired, even if it %s', async (_, firstSequence) => {
    const { service, ours } = world;
    const { db, pool } = service.store;
    const sessionId = await openSession(service, ours.live, ours);
    const change = { content_expired_at: 1, event_count: 1, status: 'failed' } as const;
    await db.updateTable('sessions').set(change).where('session_id', '=', sessionId).execute();
    const { appends } = await applyNumbered(pool as pg.Pool, {
      appends: [{ ...appendTo(sessionId), firstSequence, lastSequence: firstSequence }],
      ...{ closes: [], deletions: [] },
    });
    expect(appends).toEqual(['session_gone']);
    expect(await appendsOf(sessionId)).toEqual([]);
  });

  test("is skipped, like a close, if its organization is being removed and the session's tombstone is gone", async () => {
    const { service, theirs } = world;
    const { db, pool } = service.store;
    const { organizationId } = theirs;
    await endOrganization(db, organizationId, 1);
    const append = { ...appendTo('ses_gone'), organizationId };
    const close = {
      organizationId,
      sessionId: 'ses_gone',
      status: 'failed',
      eventCount: 1,
      endedAt: 1,
      at: 1,
    } as const;
    const { appends, closes } = await applyNumbered(pool as pg.Pool, {
      appends: [append],
      closes: [close],
      deletions: [],
    });
    expect({ appends, closes }).toEqual({ appends: ['session_gone'], closes: ['session_gone'] });
  });
});
