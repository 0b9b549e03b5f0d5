import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseQuery, termsOf } from '../../contract/query.ts';
import { runs, seeded } from '../../contract/test/runs.ts';
import { UTC } from '../../contract/time-zone.ts';
import { readPosition, writePosition } from '../search/position.ts';
import { type Page, type Position, readProgress, type Search, search } from '../search/search-sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { ENGINES } from './engines.ts';
import { createTenant, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { find, idsOf, said, sessionWith } from './searched.ts';
import { createRandom } from './seed.ts';
import { openingOn, signInMachine } from './signed-in.ts';

const WORDS = ['alpha', 'bravo', 'charlie', 'delta', 'echo'];
const SESSIONS = 14;
/** More than a chunk has. */
const MAX_EVENTS = 200;

describe.each(ENGINES)(`the cursors of a search on %s ${seeded}`, (engine) => {
  let service: TestService;
  let ours: Tenant;
  const ids: string[] = [];
  const texts: string[][] = [];
  beforeAll(async () => {
    service = await startTestService(engine);
    ours = await createTenant(service);
    const machine = await registerMachine(service, ours.live);
    const random = createRandom();
    const pick = (most: number) => Math.floor(random() * most);
    for (let n = 0; n < SESSIONS; n++) {
      service.clock.now += 60_000;
      const known = WORDS.slice(0, 1 + pick(WORDS.length));
      const written = Array.from({ length: 1 + pick(MAX_EVENTS) }, () =>
        Array.from({ length: 1 + pick(3) }, () => known[pick(known.length)]).join(' '),
      );
      texts.push(written);
      ids.push(await sessionWith(service, ours, machine, written.map(said)));
    }
  });
  afterAll(() => service.close());

  /** The sessions that a reader of every event finds. */
  const readAll = (q: string, direction: 'asc' | 'desc') => {
    const terms = termsOf(parseQuery(q));
    const matching = ids.filter((_, n) =>
      terms.every(
        ({ text, not }) => (texts[n] ?? []).some((event) => ` ${event} `.includes(` ${text} `)) === (not !== true),
      ),
    );
    return direction === 'asc' ? matching : matching.toReversed();
  };

  const term = fc
    .tuple(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([words, not]) => `${not ? 'not:' : ''}"${words.join(' ')}"`);
  const asked = fc.record({
    q: fc.array(term, { minLength: 1, maxLength: 3 }).map((terms) => terms.join(' ')),
    mostBytes: fc.constantFrom(1, 500, 5_000, 50_000, 1e9),
    limit: fc.integer({ min: 1, max: SESSIONS + 1 }),
    direction: fc.constantFrom('asc', 'desc'),
  });

  test('lead through every matching session once and in order, and always to an end', async () => {
    const { db } = service.store;
    const property = fc.asyncProperty(asked, async ({ q, mostBytes, limit, direction }) => {
      const given: Search = {
        ...{ viewer: wholeOrganization(ours.organizationId), planes: ['live'], query: parseQuery(q) },
        ...{ order: 'started', direction, limit, now: service.clock.now, calendar: UTC, mostBytes },
      };
      const found: string[] = [];
      const seen = new Set<string>();
      let searched = 0;
      for (let after: Position | undefined = {}; after; ) {
        const page: Page = await search(db, { ...given, after });
        found.push(...page.found.map(({ sessionId }) => sessionId));
        const cursor: string | undefined = page.next && writePosition(page.next);
        expect(seen, `the cursor ${cursor} a second time`).not.toContain(cursor);
        if (cursor) seen.add(cursor);
        after = cursor === undefined ? undefined : readPosition(cursor, 'started');
        const progress = page.next && (await readProgress(db, given, page.next));
        if (progress) expect(progress).toEqual({ searched: expect.any(Number), sessions: SESSIONS });
        expect(progress?.searched ?? SESSIONS).toBeGreaterThanOrEqual(searched);
        searched = progress?.searched ?? SESSIONS;
      }
      expect(found).toEqual(readAll(q, direction));
      // Each answer decides a session or reads a chunk, of which the events have at most one in 64, and one more to show.
      const chunks = texts.reduce((sum, all) => sum + Math.ceil(all.length / 64), 0);
      expect(seen.size).toBeLessThanOrEqual(chunks + 2 * SESSIONS);
    });
    await fc.assert(property, runs(60));
  });
});

describe.each(ENGINES)('an answer of the search on %s', (engine) => {
  let service: TestService;
  let ours: Tenant;
  const ids: string[] = [];
  const NEARLY = 8;
  beforeAll(async () => {
    service = await startTestService(engine);
    ours = await createTenant(service);
    const machine = await registerMachine(service, ours.live);
    const hidden = await signInMachine(service, ours.admin, 'laptop');
    const laptop = await registerMachine(service, hidden, 'laptop');
    // Each session fills an answer, and only the oldest matches.
    const nearly = Array.from({ length: 20 }, () =>
      said('alpha bravo charlies alpha bravo bravo charlie '.repeat(5_000)),
    );
    ids.push(await sessionWith(service, ours, machine, [said('alpha bravo charlie')]));
    for (let n = 0; n < NEARLY; n++) {
      service.clock.now += 60_000;
      ids.push(await sessionWith(service, ours, machine, nearly));
      const opened = await service.call('POST', '/v1/sessions', { as: hidden, body: openingOn(laptop, 'private') });
      expect(opened.status).toBe(201);
    }
  });
  afterAll(() => service.close());
  const ask = (cursor?: string) =>
    find(service, ours.member, { q: '"alpha bravo charlie"', ...(cursor && { cursor }) });

  test('has a session if there is one, however many must be read before it', async () => {
    const reply = await ask();
    expect(idsOf(reply)).toEqual([ids[0]]);
    expect(reply.body).toMatchObject({ nextCursor: null });
    expect(reply.body.progress).toBeUndefined();
  });

  test('ends after a second of work, and says how many of the sessions that the person may see were searched', async () => {
    const { clock } = service;
    let { now } = clock;
    Object.defineProperty(clock, 'now', { get: () => (now += 400) });
    const searched: number[] = [];
    const found: string[] = [];
    try {
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const reply = await ask(cursor);
        found.push(...idsOf(reply));
        cursor = reply.body.nextCursor ?? undefined;
        if (cursor === undefined) continue;
        expect(reply.body.progress.sessions).toBe(ids.length);
        searched.push(reply.body.progress.searched);
      }
    } finally {
      Object.defineProperty(clock, 'now', { value: now, writable: true });
    }
    expect(found).toEqual([ids[0]]);
    expect(searched.length).toBeGreaterThan(1);
    expect(searched).toEqual([...new Set(searched)].sort((one, other) => one - other));
    expect(searched.every((count) => count < ids.length)).toBe(true);
  });
});
