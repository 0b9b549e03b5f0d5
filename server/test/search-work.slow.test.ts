import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseQuery } from '../../contract/query.ts';
import { UTC } from '../../contract/time-zone.ts';
import { foundReadable } from '../routes/answers.ts';
import { findInSession } from '../search/find-in-session.ts';
import { createMatcher } from '../search/matcher.ts';
import { search } from '../search/search-sessions.ts';
import { readAppendsOf } from '../store/events.ts';
import type { Db } from '../store/schema.ts';
import { findSession } from '../store/sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { ENGINES } from './engines.ts';
import { createTenant, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { asked, find, said, sessionWith } from './searched.ts';

/** Counts queries to the store, and the appends that they return. */
function counted(db: Db) {
  const work = { queries: 0, appends: 0 };
  const watched = db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      work.queries++;
      work.appends += result.rows.filter((row) => 'body' in row).length;
      return result;
    },
  });
  return { work, db: watched };
}

describe.each(ENGINES)('a search on %s', (engine) => {
  let service: TestService;
  let ours: Tenant;
  beforeAll(async () => {
    service = await startTestService(engine);
    ours = await createTenant(service);
    const machine = await registerMachine(service, ours.live);
    for (let n = 0; n < 30; n++) await sessionWith(service, ours, machine, [said(`common text ${n}`)]);
  });
  afterAll(() => service.close());

  const ask = async (q: string, limit: number, mostBytes?: number) => {
    const { work, db } = counted(service.store.db);
    const page = await search(db, {
      ...{
        viewer: wholeOrganization(ours.organizationId),
        planes: ['live'],
        query: parseQuery(q),
        now: service.clock.now,
        calendar: UTC,
      },
      ...{ order: 'started', direction: 'desc', limit, ...(mostBytes && { mostBytes }) },
    });
    return { ...work, found: page.found.length };
  };

  test.each([
    ['common', 10],
    ['"common text"', 20],
  ])('for %s reads the sessions of the page, and one more to know whether there is a next page', async (q, limit) => {
    expect(await ask(q, limit)).toMatchObject({ found: limit, appends: limit + 1 });
  });

  test('reads only the events in which the words of a phrase follow each other', async () => {
    const machine = await registerMachine(service, ours.live);
    for (const text of ['the oboe and a duet for two', 'duet oboe', 'an oboe duet', 'call oboeDuet()'])
      await sessionWith(service, ours, machine, [said(text)]);
    expect(await ask('"oboe duet"', 10)).toMatchObject({ found: 2, appends: 2 });
    expect(await ask('oboeDuet', 10)).toMatchObject({ found: 2, appends: 2 });
    expect(await ask('"a duet for"', 10)).toMatchObject({ found: 1, appends: 1 });
    expect(await ask('"the oboe duet for"', 10)).toMatchObject({ found: 0, appends: 0 });
  });

  test('has at most two appends in memory, however many it reads', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const machine = await registerMachine(service, ours.live);
    const large = Array.from({ length: 20 }, () => said(' '.repeat(255_000)));
    for (let n = 0; n < 4; n++)
      await sessionWith(service, ours, machine, [...large, said('alpha here'), said('beta there')]);
    const bytesHeld = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = bytesHeld();
    const held: number[] = [];
    const parse = JSON.parse;
    const spy = vi.spyOn(JSON, 'parse').mockImplementation((json, reviver) => {
      if (/alpha here|beta there/.test(json)) held.push(bytesHeld() - before);
      return parse(json, reviver);
    });
    try {
      expect(await ask('alpha beta', 10, 1e9)).toMatchObject({ found: 4 });
    } finally {
      spy.mockRestore();
    }
    expect(held).toHaveLength(8);
    // An append has 5.1 MB, and the one before may not be collected yet.
    expect(Math.max(...held)).toBeLessThan(12e6);
  });

  test('inside a session fetches each append once, even if its ranges share appends', async () => {
    const machine = await registerMachine(service, ours.live);
    const filler = Array.from({ length: 150 }, (_, n) => said(n % 3 ? 'needle in hay' : 'hay needle'));
    const sessionId = await sessionWith(service, ours, machine, filler);
    const { work, db } = counted(service.store.db);
    const viewer = wholeOrganization(ours.organizationId);
    const session = foundReadable(viewer, await findSession(service.store.db, viewer, sessionId));
    if (!session) throw new Error('the session is gone');
    const { hits } = await findInSession(db, session, createMatcher([{ text: 'hay needle' }]), 1);
    expect(hits).toHaveLength(50);
    expect(work.appends).toBe(3);
  });

  test('shows a prompt that has the words instead of instructions far before it', async () => {
    const machine = await registerMachine(service, ours.live);
    const instructions = { ...said('Write no limerick.'), eventType: 'context.message' };
    const between = Array.from({ length: 100 }, (_, n) => said(`between ${n}`));
    await sessionWith(service, ours, machine, [instructions, ...between, asked('Which limerick is yours?')]);
    const { body } = await find(service, ours.member, { q: 'limerick' });
    expect(body.sessions[0].hits.map(({ eventType }: { eventType: string }) => eventType)).toEqual(['user.message']);
  });

  test('reads every other session if one is deleted meanwhile', async () => {
    const machine = await registerMachine(service, ours.live);
    const large = Array.from({ length: 6 }, () => said(randomBytes(120_000).toString('hex')));
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push(await sessionWith(service, ours, machine, large));
    const { db } = service.store;
    const ranges = ids.map((sessionId) => ({ sessionId, first: 1, last: large.length }));
    const read: number[] = [];
    for await (const appends of readAppendsOf(db, ours.organizationId, ranges)) {
      read.push(...appends.flatMap(({ at }) => at));
      await db
        .deleteFrom('appends')
        .where('session_id', '=', ids[0] as string)
        .execute();
    }
    expect(read).toEqual([0, 1, 2, 3]);
  });
});
