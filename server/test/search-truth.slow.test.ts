import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded, times } from '../../contract/test/runs.ts';
import { ENGINES } from './engines.ts';
import { createTenant, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { createReader, type Drawn, drawQueries, recordedSessions } from './search-truth.ts';
import { find, idsOf, sessionWith } from './searched.ts';
import { createRandom, shuffle } from './seed.ts';

const PAGE = 50;
const MAX_PAGES = 2;
const MAX_SESSIONS = 50;
const random = createRandom();
const sessions = shuffle(recordedSessions(), random).slice(0, MAX_SESSIONS);
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
    for (let cursor: string | null = ''; cursor !== null && pages.length <= MAX_PAGES; ) {
      const query = { q: `"${text}"`, limit: PAGE, ...(cursor && { cursor }) };
      const reply = await find(service, ours.member, query);
      pages.push(idsOf(reply));
      cursor = reply.body.nextCursor;
    }
    return pages;
  }

  test('lead on at most two pages to every session that has them and to no other, in order, and none is empty', async () => {
    expect(queries.length).toBeGreaterThanOrEqual(times(100));
    const wrong: string[] = [];
    for (const drawn of queries) {
      const pages = await pagesOf(drawn);
      const found = pages.flat();
      const truth = readAll(drawn.text);
      const missing = ids.filter((id, n) => truth[n]?.must && !found.includes(id));
      const untrue = found.filter((id) => !truth[ids.indexOf(id)]?.may);
      const inOrder = ids.filter((id) => found.includes(id)).toReversed();
      const isRight =
        missing.length + untrue.length === 0 && String(found) === String(inOrder) && pages.length <= MAX_PAGES;
      if (!isRight || pages[0]?.length === 0)
        wrong.push(
          `${drawn.kind} "${drawn.text}": ${found.length} found on ${pages.length} pages, ${missing.length} missing, ${untrue.length} without it`,
        );
    }
    expect(wrong).toEqual([]);
  });
});
