import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SEED, seeded, times } from '../../contract/test/runs.ts';
import { ENGINES } from './engines.ts';
import { createTenant, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { createReader, type Drawn, drawQueries, recordedSessions } from './search-truth.ts';
import { find, idsOf, sessionWith } from './searched.ts';
import { createRandom, shuffle } from './seed.ts';

const PAGE = 50;
const MOST_SESSIONS = 50;
const random = createRandom();
const sessions = shuffle(recordedSessions(), random).slice(0, MOST_SESSIONS);
const queries = drawQueries(sessions, times(120), random);

const readAll = createReader(sessions);

describe.each(ENGINES)(`words copied from recorded sessions, on %s ${seeded}`, (engine) => {
  let service: TestService;
  let ours: Tenant;
  const ids: string[] = [];
  beforeAll(async () => {
    service = await startTestService(engine);
    ours = await createTenant(service);
    const machine = await registerMachine(service, ours.live);
    for (const { events } of sessions) {
      service.clock.now += 60_000;
      ids.push(await sessionWith(service, ours, machine, events));
    }
  });
  afterAll(() => service.close());

  async function pagesOf({ text }: Drawn): Promise<string[][]> {
    const pages: string[][] = [];
    const q = `"${text}"`;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const reply = await find(service, ours.member, { q, limit: PAGE, ...(cursor && { cursor }) });
      expect(reply.status, reply.text).toBe(200);
      if (reply.body.nextCursor === cursor) return [...pages, ['stuck']];
      pages.push(idsOf(reply));
      cursor = reply.body.nextCursor;
      if (pages.length > 40) return [...pages, ['stuck']];
    }
    return pages;
  }

  test('lead to every session that has them, and the first answer has some of them', async () => {
    const figures = {
      queries: 0,
      'empty first page': 0,
      'stuck cursor': 0,
      'more than 2 pages': 0,
      'missing sessions': 0,
      most: 0,
    };
    const wrong: string[] = [];
    const begun = performance.now();
    for (const drawn of queries) {
      const pages = await pagesOf(drawn);
      const found = pages.flat();
      const truth = readAll(drawn.text);
      figures.queries++;
      figures.most = Math.max(figures.most, pages.length);
      const missing = ids.filter((id, n) => truth[n]?.must && !found.includes(id));
      const isStuck = found.at(-1) === 'stuck';
      if (pages[0]?.length === 0) figures['empty first page']++;
      if (isStuck) figures['stuck cursor']++;
      if (pages.length > Math.ceil(Math.max(1, found.length) / PAGE) + 1) figures['more than 2 pages']++;
      if (missing.length > 0) figures['missing sessions']++;
      const wanted = ids.filter((id) => found.includes(id)).toReversed();
      const untrue = found.filter((id) => id !== 'stuck' && !truth[ids.indexOf(id)]?.may);
      if (
        missing.length > 0 ||
        untrue.length > 0 ||
        (!isStuck && String(wanted) !== String(found)) ||
        pages[0]?.length === 0 ||
        pages.length > 2
      )
        wrong.push(
          `${drawn.kind} "${drawn.text}": ${found.length} found on ${pages.length} pages, ${missing.length} missing (${missing.map((id) => ids.indexOf(id))}), ${untrue.length} untrue`,
        );
    }
    console.table({
      [`${engine}, ${sessions.length} sessions, seed ${SEED}, ${((performance.now() - begun) / 1000).toFixed(1)} s`]:
        figures,
    });
    expect(wrong).toEqual([]);
  });
});
