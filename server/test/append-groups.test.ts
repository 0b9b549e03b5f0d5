import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Plane } from '../../contract/secret.ts';
import { newUuid } from '../ids.ts';
import type { Frame } from '../log/codec.ts';
import { decodeFrame, encodeFrame } from '../log/frame.ts';
import { assertTaken } from '../log/outcome.ts';
import { again, ENGINES, type TestStore } from './engines.ts';
import { openSession, registerMachine } from './factories.ts';
import { startWorld, type World } from './world.ts';

interface Batch {
  organizationId: string;
  sessionId: string;
  plane: Plane;
  key: string | null;
  fingerprint: string | null;
  count: number;
  expectedEvents?: number;
  at: number;
  frame: Frame;
}

const frameOf = (texts: readonly string[]) =>
  encodeFrame(texts.map((text) => ({ eventType: 'notice', payload: Buffer.from(JSON.stringify({ text })) })));

describe.each(ENGINES)('concurrent appends on %s', (engine) => {
  let world: World;
  let store: TestStore;
  let organizationId: string;
  beforeAll(async () => {
    world = await startWorld(engine);
    store = world.service.store;
    const [sessionId = ''] = await openSessions(1);
    const ours = store.db.selectFrom('sessions').select('organization_id').where('session_id', '=', sessionId);
    organizationId = (await ours.executeTakeFirstOrThrow()).organization_id;
  });
  afterAll(() => world.service.close());

  async function openSessions(count: number): Promise<string[]> {
    const machine = await registerMachine(world.service, world.ours.live);
    return Promise.all(Array.from({ length: count }, () => openSession(world.service, world.ours.live, machine)));
  }

  const batch = (sessionId: string, texts: readonly string[], more: Partial<Batch> = {}): Batch => ({
    organizationId,
    sessionId,
    plane: 'live',
    key: null,
    fingerprint: null,
    count: texts.length,
    at: Date.now(),
    frame: frameOf(texts),
    ...more,
  });

  async function append({ organizationId, sessionId, frame, ...rest }: Batch, to: TestStore = store) {
    const place = { organizationId, sessionId };
    const command = { kind: 'append', appendId: newUuid(), otherSecretId: null, ...rest } as const;
    const decision = await to.journal.change({ place, command, frame, sender: 'one' });
    assertTaken(decision);
    const replayed = 'replayed' in decision;
    const { firstSequence, lastSequence } = (replayed ? decision.replayed : 'entry' in decision && decision.entry) as {
      firstSequence: number;
      lastSequence: number;
    };
    return { firstSequence, lastSequence, replayed };
  }

  async function textsOf(sessionId: string): Promise<string[]> {
    const rows = await store.db.selectFrom('appends').selectAll().where('session_id', '=', sessionId).execute();
    return rows
      .toSorted((a, b) => a.first_sequence - b.first_sequence)
      .flatMap((row) => decodeFrame(row).map(({ payload }) => JSON.parse(String(payload)).text));
  }

  test('each append stores its own events, at any size', async () => {
    const sessionIds = await openSessions(20);
    const texts = sessionIds.map((_, index) => [`${index}`, 'ä'.repeat(index * 500), '']);
    const outcomes = await Promise.all(sessionIds.map((id, index) => append(batch(id, texts[index] ?? []))));
    expect(outcomes).toEqual(sessionIds.map(() => ({ firstSequence: 1, lastSequence: 3, replayed: false })));
    expect(await Promise.all(sessionIds.map((id) => textsOf(id)))).toEqual(texts);
  });

  test('each append has an outcome of its own', async () => {
    const [fresh = '', keyed = '', closed = '', theirs = '', expecting = '', twice = ''] = await openSessions(6);
    const key = { key: 'key', fingerprint: 'a' };
    await append(batch(keyed, ['first'], key));
    await append(batch(closed, ['first'], key));
    await store.db.updateTable('sessions').set({ status: 'completed' }).where('session_id', '=', closed).execute();
    const settled = await Promise.allSettled([
      append(batch(fresh, ['a', 'b'])),
      append(batch(keyed, ['first'], key)),
      append(batch(closed, ['late'])),
      append(batch('ses_unknown', ['a'])),
      append(batch(theirs, ['a'], { organizationId: 'org_other' })),
      append(batch(expecting, ['a'], { expectedEvents: 7 })),
      append(batch(twice, ['a'], key)),
      append(batch(twice, ['a'], key)),
      append(batch(keyed, ['other'], { ...key, fingerprint: 'b' })),
      append(batch(closed, ['first'], key)),
      append(batch(fresh, ['c'], { plane: 'test' })),
    ]);
    const told = settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code));
    const [, , , , , , one, other] = told;
    expect(told).toEqual([
      { firstSequence: 1, lastSequence: 2, replayed: false },
      { firstSequence: 1, lastSequence: 1, replayed: true },
      'session_closed',
      'not_found',
      'not_found',
      'sequence_mismatch',
      ...[one, other],
      'idempotency_key_reused',
      { firstSequence: 1, lastSequence: 1, replayed: true },
      'not_found',
    ]);
    // Either of the two may have been first.
    expect([one, other].map(({ replayed }) => replayed).sort()).toEqual([false, true]);
    expect(await Promise.all([fresh, keyed, closed, theirs, expecting, twice].map((id) => textsOf(id)))).toEqual([
      ...[['a', 'b'], ['first'], ['first'], [], [], ['a']],
    ]);
  });

  test('an append that the engine cannot write fails alone', async () => {
    const [good = '', bad = '', also = ''] = await openSessions(3);
    // A column accepts neither value.
    const unreadable = engine === 'sqlite' ? { fingerprint: {} as string } : { at: 1.5 };
    const settled = await Promise.allSettled([
      append(batch(good, ['a'])),
      append(batch(bad, ['a'], unreadable)),
      append(batch(also, ['a'])),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await Promise.all([good, bad, also].map((id) => textsOf(id)))).toEqual([['a'], [], ['a']]);
  });

  test('a deletion whose audit entry cannot be written fails alone', async () => {
    const [good = '', bad = '', also = ''] = await openSessions(3);
    await sql`alter table audit_entries rename to audit_entries_away`.execute(store.db);
    const by = { kind: 'person', id: 'usr_1' } as const;
    const command = { kind: 'delete', by, at: Date.now() } as const;
    const settled = await Promise.allSettled([
      append(batch(good, ['a'])),
      store.journal.change({ place: { organizationId, sessionId: bad }, command, sender: 'two' }),
      append(batch(also, ['a'])),
    ]);
    await sql`alter table audit_entries_away rename to audit_entries`.execute(store.db);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await Promise.all([good, also].map((id) => textsOf(id)))).toEqual([['a'], ['a']]);
  });

  if (engine === 'postgres') {
    test('appends to different sessions share a statement', async () => {
      const sessionIds = await openSessions(16);
      // From here on the heads are in memory.
      for (const id of sessionIds) await append(batch(id, ['a']));
      const query = vi.spyOn(store.pool as pg.Pool, 'query');
      await Promise.all(sessionIds.map((id) => append(batch(id, ['a']))));
      const names = (query.mock.calls as unknown as [{ name?: string }][]).map(([{ name }]) => name);
      expect(names.filter((name) => name?.startsWith('commit'))).toEqual(['commit_group']);
      query.mockClear();
      // Small appends do not wait until a large one is written.
      const large = randomBytes(100_000).toString('base64');
      await Promise.all(sessionIds.slice(0, 3).map((id, n) => append(batch(id, [n === 0 ? large : 'a']))));
      const asked = query.mock.calls as unknown as [{ name?: string; values?: unknown[] }][];
      const shared = asked.filter(([{ name }]) => name === 'commit_group').map(([{ values }]) => values?.[0]);
      expect(shared).toEqual([sessionIds.slice(1, 3)]);
      query.mockRestore();
    });

    test('a repeated append leaves the heads of other sessions in memory', async () => {
      const [repeated = '', other = ''] = await openSessions(2);
      const key = { key: 'key', fingerprint: 'a' };
      await append(batch(repeated, ['first'], key));
      await append(batch(other, ['first']));
      expect(await append(batch(repeated, ['first'], key))).toMatchObject({ replayed: true });
      const query = vi.spyOn(store.pool as pg.Pool, 'query');
      await append(batch(other, ['second']));
      await append(batch(repeated, ['second']));
      const names = (query.mock.calls as unknown as [{ name?: string }][]).map(([{ name }]) => name);
      query.mockRestore();
      // A statement without a name notifies other replicas of the sessions meanwhile.
      expect(names.filter((name) => name !== undefined)).toEqual(['commit_one', 'commit_one']);
    });

    test('a locked session does not delay appends to other sessions', async () => {
      const [held = '', free = ''] = await openSessions(2);
      for (const id of [held, free]) await append(batch(id, ['first']));
      const holder = new pg.Client({ connectionString: store.databaseUrl as string });
      await holder.connect();
      await holder.query('begin');
      await holder.query('select from sessions where session_id = $1 for update', [held]);
      const query = vi.spyOn(store.pool as pg.Pool, 'query');
      const settled = await Promise.allSettled([
        append(batch(held, ['a'], { key: 'k', fingerprint: 'f' })),
        append(batch(free, ['a'])),
      ]);
      const asked = query.mock.calls as unknown as [{ name?: string; values?: unknown[] }][];
      query.mockRestore();
      await holder.query('rollback');
      await holder.end();
      // The shared statement wrote the free session. If it had waited for the lock, both appends would have been retried alone.
      const alone = asked.filter(([{ name }]) => name === 'commit_one').map(([{ values }]) => values?.[0]);
      expect(alone).toEqual([[held]]);
      expect(settled[0]).toMatchObject({ status: 'rejected', reason: { code: 'idempotency_in_progress' } });
      expect(settled[1]).toMatchObject({ status: 'fulfilled' });
      expect(await Promise.all([held, free].map((id) => textsOf(id)))).toEqual([['first'], ['first', 'a']]);
    });

    test('two replicas that write to the same sessions at once lose and duplicate nothing', async () => {
      const sessionIds = await openSessions(8);
      const other = await again(store);
      const rounds = Array.from({ length: 10 }, (_, round) => round);
      const send = async (to: TestStore, ids: readonly string[], name: string) => {
        for (const round of rounds) await Promise.all(ids.map((id) => append(batch(id, [`${name} ${round}`]), to)));
      };
      await Promise.all([send(store, sessionIds, 'one'), send(other, sessionIds.toReversed(), 'other')]);
      await other.close();
      const expected = rounds.flatMap((round) => [`one ${round}`, `other ${round}`]).sort();
      for (const id of sessionIds) expect((await textsOf(id)).sort()).toEqual(expected);
    });
  }
});
