import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseQuery } from '../../contract/query.ts';
import { UTC } from '../../contract/time-zone.ts';
import { readPosition, writePosition } from '../search/position.ts';
import { type Page, type Position, type Search, search } from '../search/search-sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { countChunksWith } from './derived.ts';
import { ENGINES } from './engines.ts';
import { createTenant, type Machine, registerMachine, signIn, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { answered, asked, called, find, findIn, idsOf, said, sessionWith } from './searched.ts';

/** So many options that the command is longer than the stored part of a command. */
const OPTIONS = Array.from({ length: 20 }, (_, n) => `--option-${n}`).join(' ');

describe.each(ENGINES)('search on %s', (engine) => {
  let service: TestService;
  let ours: Tenant;
  let theirs: Tenant;
  let machine: Machine;
  const ids: Record<string, string> = {};
  const ask = (q: string, more: Record<string, string | number> = {}) => find(service, ours.member, { q, ...more });
  const names = async (q: string, more: Record<string, string | number> = {}) => {
    const reply = await ask(q, more);
    expect(reply.status, reply.text).toBe(200);
    return idsOf(reply).map((id) => Object.keys(ids).find((name) => ids[name] === id));
  };

  beforeAll(async () => {
    service = await startTestService(engine);
    ours = await createTenant(service, 'ours');
    machine = await registerMachine(service, ours.live, 'build-7');
    theirs = await createTenant(service);
    await sessionWith(service, theirs, await registerMachine(service, theirs.live), [
      asked('connection reset in queue.ts'),
    ]);
    const edit = (file_path: string) => called('Edit', { file_path, old_string: 'a', new_string: 'b' });
    const sessions: Record<string, Parameters<typeof sessionWith>[3]> = {
      queue: [
        asked('Why does the connection reset?'),
        called('shell', { cmd: 'cd api && npm test' }, 'tests'),
        answered('FAIL src/queue.test.ts\n  Error: connection reset by peer', { exitCode: 1, callId: 'tests' }),
        called('Read', { file_path: '/home/kim/billing/src/retry.ts' }),
        edit('/home/kim/billing/src/queue.ts'),
        said('drainQueue() resets the connection now.'),
      ],
      upload: [
        asked('文件上传失败了，请修复'),
        said('getUserById is called twice.'),
        called('shell', { cmd: `make release ${OPTIONS}` }),
        called('shell', { cmd: 'pytest -q' }, 'red'),
        answered('=== 1 failed in 2s ===', { exitCode: 1, callId: 'red' }),
        called('shell', { cmd: 'pytest -q' }, 'green'),
        answered('=== 3 passed in 2s ===', { exitCode: 0, callId: 'green' }),
        edit('/home/kim/billing/docs/upload.md'),
      ],
      split: [asked('The connection is slow.'), said('After a reset it is fast. Use get_user_by_id.')],
    };
    for (const [name, events] of Object.entries(sessions)) {
      service.clock.now += 3_600_000;
      ids[name] = await sessionWith(service, ours, machine, events);
    }
    service.clock.now += 3_600_000;
    ids.test = await sessionWith(service, ours, machine, [asked('connection of the test plane')], 'test');
  });
  afterAll(() => service.close());

  test.each([
    ['', ['split', 'upload', 'queue']],
    ['connection', ['split', 'queue']],
    ['CONNECTION reset', ['split', 'queue']],
    ['"connection reset"', ['queue']],
    ['"reset connection"', []],
    ['connec*', ['split', 'queue']],
    ['connec', []],
    ['connection not:slow', ['queue']],
    ['connection -slow', ['split']],
    ['connection not:"connection reset"', ['split']],
    ['not:connection', ['upload']],
    ['getUserById', ['split', 'upload']],
    ['getuserbyid', ['upload']],
    ['user', ['split', 'upload']],
    ['src/queue.test.ts', ['queue']],
    ['上传', ['upload']],
    ['传上', []],
    ['drainqueue file:queue.ts', ['queue']],
    ['file:queue.ts', ['queue']],
    ['file:src/queue.ts', ['queue']],
    ['file:lib/queue.ts', []],
    ['file:up*', ['upload']],
    ['file:queue.ts file:upload.md', ['upload', 'queue']],
    ['tool:edit', ['upload', 'queue']],
    ['tool:Edit tool:shell connection', ['queue']],
    ['file:retry.ts', ['queue']],
    ['edited:retry.ts', []],
    ['edited:src/queue.ts', ['queue']],
    ['command:"npm test"', ['queue']],
    ['command:npm command:pytest', ['upload', 'queue']],
    ['command:test', []],
    [`command:"make release ${OPTIONS}"`, ['upload']],
    [`command:"make release ${OPTIONS.slice(0, 120)}"`, ['upload']],
    [`command:"make debug ${OPTIONS}"`, []],
    ['tests:red', ['queue']],
    ['tests:failed', ['queue']],
    ['tests:green', ['upload']],
    ['tests:fixed', ['upload']],
    ['on:today', ['split', 'upload', 'queue']],
    ['on:2026-01-02', []],
    ['failed:yes', ['upload', 'queue']],
    ['failed:no', ['split']],
    ['agent:codex user', ['split', 'upload']],
    ['agent:claude', []],
    ['machine:build', ['split', 'upload', 'queue']],
    ['machine:other', []],
    ['status:active after:1h', ['split']],
    ['before:2026-11-20', []],
    ['status:completed', []],
    ['nowhere', []],
  ])('the query %j finds %j', async (q, found) => {
    expect(await names(q)).toEqual(found);
  });

  test('for a word reads no chunk of another organization that has the word', async () => {
    expect(await countChunksWith(service.store, ours.organizationId, 'connection')).toBe(3);
    expect(await countChunksWith(service.store, theirs.organizationId, 'connection')).toBe(1);
    expect(await countChunksWith(service.store, theirs.organizationId, 'drainqueue')).toBe(0);
  });

  test('finds the one machine with the given id', async () => {
    expect(await names(`machine:${machine.environmentId}`)).toEqual(['split', 'upload', 'queue']);
    expect(await names(`machine:${machine.environmentId.slice(0, -1)}`)).toEqual([]);
  });

  test('finds any number of machines, even if they are named repeatedly', async () => {
    const { db } = service.store;
    const row = await db
      .selectFrom('environments')
      .selectAll()
      .where('environment_id', '=', machine.environmentId)
      .executeTakeFirstOrThrow();
    const more = Array.from({ length: 900 }, (_, n) => ({ ...row, environment_id: `env_${n}`, hostname: `b${n}` }));
    for (let at = 0; at < more.length; at += 100) {
      await db
        .insertInto('environments')
        .values(more.slice(at, at + 100))
        .execute();
    }
    const q = Array.from({ length: 90 }, (_, n) => (n % 2 ? 'machine:b' : 'machine:B*')).join(' ');
    expect(await names(q)).toEqual(['split', 'upload', 'queue']);
  });

  test('shows the hits, and the events with the most hits first', async () => {
    const { body } = await ask('connection reset queue');
    expect(body.sessions).toHaveLength(1);
    const [{ hits, session, summary }] = body.sessions;
    expect(hits.map(({ sequence }: { sequence: number }) => sequence)).toEqual([3, 1, 6]);
    expect(hits[0]).toMatchObject({
      eventType: 'tool.result',
      text: 'Error: connection reset by peer',
    });
    const marked = hits[0].marks.map(([start, end]: [number, number]) => hits[0].text.slice(start, end));
    expect(marked).toEqual(['connection', 'reset']);
    expect(session.sessionId).toBe(ids.queue);
    expect(summary).toMatchObject({ sessionId: ids.queue, failures: 1, prompts: 1 });
  });

  test('by fit ranks events with all words first, and prompts and answers before outputs', async () => {
    expect(await names('connection reset')).toEqual(['split', 'queue']);
    expect(await names('connection reset', { order: 'fit' })).toEqual(['queue', 'split']);
    expect(await names('', { order: 'fit' })).toEqual(['split', 'upload', 'queue']);
  });

  test('covers one plane or both', async () => {
    expect(await names('connection', { secretEnvironment: 'test' })).toEqual(['test']);
    expect(await names('connection', { secretEnvironment: 'all' })).toEqual(['test', 'split', 'queue']);
    expect(await names('', { secretEnvironment: 'all', order: 'events' })).toEqual([
      'upload',
      'queue',
      'split',
      'test',
    ]);
  });

  test.each(['started', 'duration', 'events', 'failures', 'changes', 'tokens', 'cost'])(
    'can be ordered by %s in both directions, page by page',
    async (order) => {
      const pages = async (direction: string) => {
        const all: string[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const reply = await ask('', {
            order,
            direction,
            limit: 1,
            secretEnvironment: 'all',
            ...(cursor && { cursor }),
          });
          all.push(...idsOf(reply));
          cursor = reply.body.nextCursor;
        }
        return all;
      };
      const down = await pages('desc');
      expect(new Set(down)).toEqual(new Set(Object.values(ids)));
      expect(await pages('asc')).toEqual(down.toReversed());
      expect(idsOf(await ask('', { order, secretEnvironment: 'all' }))).toEqual(down);
    },
  );

  describe('of long sessions', () => {
    beforeAll(async () => {
      // Each two words of the phrases follow each other in every chunk, so all of them must be read.
      const text = (n: number) => (n % 2 ? 'gamma delta zeta' : 'delta gamma of gamma zeta');
      const filler = Array.from({ length: 130 }, (_, n) => said(text(n)));
      const begin = said('alpha beta and beta omega, omega beta and beta alpha');
      for (const end of ['alpha beta omega', 'omega beta alpha'])
        await sessionWith(service, ours, machine, [begin, ...filler, said(end)]);
    });

    test.each([
      ['"alpha beta omega"', 1],
      ['"omega beta alpha" "gamma delta zeta"', 1],
      ['alpha not:"omega beta alpha"', 1],
      ['"delta gamma zeta"', 0],
    ])('finds %j even if one answer may read hardly anything', async (q, count) => {
      const asked: Search = {
        ...{
          viewer: wholeOrganization(ours.organizationId),
          planes: ['live', 'test'],
          query: parseQuery(q),
          now: service.clock.now,
          calendar: UTC,
        },
        ...{ order: 'started', direction: 'asc', limit: 2 },
      };
      const idsOfAll = async (mostBytes: number) => {
        const found: string[] = [];
        let answers = 0;
        for (let after: Position | undefined = {}; after; answers++) {
          const page: Page = await search(service.store.db, { ...asked, after, mostBytes });
          expect(page.found.every(({ hits }) => hits.length > 0)).toBe(true);
          found.push(...page.found.map(({ sessionId }) => sessionId));
          after = page.next && readPosition(writePosition(page.next), asked.order);
        }
        return { found, answers };
      };
      const [little, much] = [await idsOfAll(1), await idsOfAll(1e9)];
      expect(much.found).toHaveLength(count);
      expect(little.found).toEqual(much.found);
      expect(little.answers).toBeGreaterThan(much.answers);
    });
  });

  test.each([' ', '\n', '\t', '\r\n', '\0', '\n+  ', ' <<\n'])(
    'finds a phrase across %j in a call, with arguments as an object or as JSON text',
    async (gap) => {
      const word = `alpha${Buffer.from(gap).toString('hex')}`;
      const input = { cmd: `${word}${gap}bravo` };
      const found: string[] = [];
      for (const sent of [input, JSON.stringify(input)])
        found.push(await sessionWith(service, ours, machine, [called('shell', sent), said(`only ${word} here`)]));
      const ask = async (q: string) => idsOf(await find(service, ours.member, { q })).toSorted();
      expect(await ask(`"${word} bravo"`)).toEqual(found.toSorted());
      expect(await ask(`${word} not:"${word} bravo"`)).toEqual([]);
      for (const sessionId of found) {
        const { body } = await findIn(service, ours.member, sessionId, `"${word} bravo"`);
        expect(body.hits).toMatchObject([{ sequence: 1 }]);
      }
    },
  );

  test('finds everything in a session of any length, and continues where it stopped', async () => {
    const line = (n: number) => `line ${n} of the output`;
    const long = Array.from({ length: 30_000 }, (_, n) => line(n)).join('\n');
    const slices = Array.from({ length: 3 }, (_, n) => long.slice((n * long.length) / 3, ((n + 1) * long.length) / 3));
    const events = [
      ...slices.map((slice) => answered(slice)),
      ...Array.from({ length: 250 }, (_, n) => said(`needle ${n}`)),
    ];
    const sessionId = await sessionWith(service, ours, machine, events);
    const { hits, next } = (await findIn(service, ours.member, sessionId, '"line 29999 of"')).body;
    expect(next).toBeNull();
    expect(hits).toMatchObject([{ sequence: 3, text: expect.stringContaining(line(29_999)) }]);
    const found: number[] = [];
    for (let from: number | null = 1; from !== null; ) {
      const { body } = await findIn(service, ours.member, sessionId, 'needle', from);
      found.push(...body.hits.map(({ sequence }: { sequence: number }) => sequence));
      from = body.next;
    }
    expect(found).toEqual(Array.from({ length: 250 }, (_, n) => n + 4));
  });

  test('finds words behind more words than the index has room for', async () => {
    const signs = Array.from({ length: 80_000 }, (_, n) => 0x4e00 + ((n * (7 + 6 * Math.floor(n / 20_000))) % 20_000));
    const text = String.fromCharCode(...signs.slice(0, 40_000)) + String.fromCharCode(...signs.slice(40_000));
    ids.endless = await sessionWith(service, ours, machine, [said(text)]);
    expect(await names(text.slice(-6))).toEqual(['endless']);
    expect(await names(`${text[79_999]}${text[0]}${text[79_999]}`)).toEqual([]);
  });

  test('yields to other work while it reads large events', async () => {
    const sessionId = await sessionWith(
      service,
      ours,
      machine,
      // Each event has the letters of the phrase, so that it is parsed, but not as whole words.
      Array.from({ length: 30 }, () => said(`needle ${'hay '.repeat(50_000)} needles`)),
    );
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    for (let from: number | null = 1; from !== null; ) {
      const { body } = await findIn(service, ours.member, sessionId, '"hay needle"', from);
      expect(body.hits).toEqual([]);
      from = body.next;
    }
    isOver = true;
    // Six megabytes, at most half a megabyte in each slice.
    expect(turns).toBeGreaterThanOrEqual(12);
  });

  describe('with many near matches', () => {
    const near = (count: number) => '1a a1 '.repeat(count);
    const answersTo = async (sessionId: string, q: string) => {
      const answers: number[][] = [];
      for (let from: number | null = 1; from !== null; ) {
        const { body } = await findIn(service, ours.member, sessionId, q, from);
        answers.push(body.hits.map(({ sequence }: { sequence: number }) => sequence));
        from = body.next;
      }
      return answers;
    };

    test('compares words for one answer only as long as it may read', async () => {
      const nearly = Array.from({ length: 12 }, () => said(`a b ${near(40_000)}`));
      const sessionId = await sessionWith(service, ours, machine, [said('a a b'), ...nearly, said('a a b')]);
      // 12 × 40,000 words at 32 bytes each are more than one answer may read once it has a hit.
      const answers = await answersTo(sessionId, '"a a"');
      expect(answers.flat()).toEqual([1, 14]);
      expect(answers.length).toBeGreaterThanOrEqual(2);
    });

    test('finds words behind near matches in the last event of an answer, even in parts, or with a missing part', async () => {
      const nearly = Array.from({ length: 2 }, () => said(`a b ${near(40_000)}`));
      const slice = (part: number, of: number, json: string) => ({
        ...said(''),
        payload: { ...said('').payload, part, of, json },
      });
      const whole = JSON.stringify(said(`${near(110_000)} a a`).payload);
      const slices = [0, 1, 2].map((n) =>
        slice(n + 1, 3, whole.slice(n * 230_000, n < 2 ? (n + 1) * 230_000 : undefined)),
      );
      const missing = slice(1, 2, `${near(39_000)} a a`);
      const events = [...nearly, said('filler '.repeat(6_000)), missing, ...slices, said('end')];
      const sessionId = await sessionWith(service, ours, machine, events);
      expect((await answersTo(sessionId, '"a a"')).flat()).toEqual([4, 5]);
    });

    test('finds words behind all near matches', async () => {
      ids.behind = await sessionWith(service, ours, machine, [said(`${near(40_000)} a a needle`)]);
      expect(await answersTo(ids.behind, '"a a"')).toEqual([[1]]);
      expect(await names('"a a needle"')).toEqual(['behind']);
    });
  });

  test('reports that sessions may be missing while they are not derived yet', async () => {
    const { db } = service.store;
    await db.deleteFrom('session_chunks').execute();
    await db.deleteFrom('session_facts').execute();
    const another = await startTestService(engine, {}, service.store);
    const member = await signIn(another, 'ours-member');
    try {
      for (;;) {
        const reply = await find(another, member, { q: 'drainqueue' });
        if (idsOf(reply).length === 1) break;
        expect(reply.body).toMatchObject({ catchingUp: true });
      }
    } finally {
      await another.app.close();
    }
  });
});
