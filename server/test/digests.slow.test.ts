import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventDigest } from '../../contract/digest.ts';
import { createDigester } from '../../transcript/digester.ts';
import { streamEventDigests } from '../ingest/digests.ts';
import { findSession } from '../store/sessions.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { playScenarios } from './scenarios.ts';
import { DIGEST_SCENARIOS } from './tables/digests.ts';
import { startWorld, type World } from './world.ts';

playScenarios('digests', DIGEST_SCENARIOS);

const NONCE = 'nonce'.repeat(6);
const EVENTS = 230;

const source = (position: number, more: object = {}) => ({
  agent: 'codex',
  session: 'agent-session',
  record: `r${position}`,
  file: 'a/b.jsonl',
  position,
  ...more,
});
const payloadOf = (n: number) => ({ source: source(n), text: `event ${n}`, rest: { n, list: [1, [], {}] } });

interface Answered {
  sessionId: string;
  digests: EventDigest[];
  nextFrom: number | null;
}

describe.each(ENGINES)('digests of events on %s', (engine) => {
  let world: World;
  let sessionId: string;
  beforeAll(async () => {
    world = await startWorld(engine);
    sessionId = await store(
      Array.from({ length: EVENTS }, (_, n) => payloadOf(n)),
      23,
    );
  });
  afterAll(() => world.service.close());

  async function store(payloads: object[], perBatch = 50): Promise<string> {
    const { service, ours } = world;
    const id = await openSession(service, ours.live, ours);
    for (let at = 0; at < payloads.length; at += perBatch) {
      const events = payloads.slice(at, at + perBatch).map((payload) => ({ eventType: 'notice', payload }));
      const reply = await service.call('POST', `/v1/sessions/${id}/events`, { as: ours.live, body: { events } });
      expect(reply.status, reply.text).toBe(200);
    }
    return id;
  }

  async function ask(body: object): Promise<Answered[]> {
    const { service, ours } = world;
    const reply = await service.call('POST', '/v1/digests', { as: ours.live, body: { nonce: NONCE, ...body } });
    expect(reply.status, reply.text).toBe(200);
    return (reply.body as { results: Answered[] }).results;
  }

  async function get({ from, ...more }: { from?: number; limit?: number; nonce?: string } = {}, id = sessionId) {
    const [answered] = await ask({ sessions: [{ sessionId: id, ...(from && { from }) }], ...more });
    return answered as Answered;
  }

  test('are computed from the exact text that was sent', async () => {
    const { digests } = await get();
    const digester = createDigester(NONCE);
    expect(digests).toEqual(
      digests.map((_, n) => ({
        sequence: n + 1,
        eventType: 'notice',
        ...digester.digestPayload(JSON.stringify(payloadOf(n))),
      })),
    );
    expect(new Set(digests.map(({ digest }) => digest)).size).toBe(EVENTS);
    expect(new Set(digests.map(({ record }) => record)).size).toBe(EVENTS);
    expect(new Set(digests.map(({ file }) => file)).size).toBe(1);
  });

  test('differ under another nonce and for a session of another name', async () => {
    const [one] = (await get({ limit: 1 })).digests;
    const [other] = (await get({ limit: 1, nonce: 'x'.repeat(22) })).digests;
    const renamed = await store([{ ...payloadOf(0), source: source(0, { session: 'another' }) }]);
    const [foreign] = (await get({}, renamed)).digests;
    for (const key of ['digest', 'content', 'file', 'record'] as const) {
      expect(other?.[key]).not.toBe(one?.[key]);
      expect(foreign?.[key]).not.toBe(one?.[key]);
    }
  });

  test('have a content digest that does not depend on file and position', async () => {
    const moved = await store([{ ...payloadOf(0), source: { ...source(0), file: 'moved.jsonl', position: 77 } }]);
    const [one] = (await get({ limit: 1 })).digests;
    const [other] = (await get({}, moved)).digests;
    expect(other).toMatchObject({ content: one?.content, record: one?.record, position: 77 });
    expect(other?.digest).not.toBe(one?.digest);
    expect(other?.file).not.toBe(one?.file);
  });

  test.each([1, 7, 50, 229, 230, 9999])('pages of %i together are the whole', async (limit) => {
    const seen: number[] = [];
    for (let from: number | null = 1; from !== null; ) {
      const page = await get({ from, limit });
      seen.push(...page.digests.map(({ sequence }) => sequence));
      from = page.nextFrom;
    }
    expect(seen).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1));
  });

  test('a page beyond the end is empty', async () => {
    expect(await get({ from: 231 })).toEqual({ sessionId, digests: [], nextFrom: null });
  });

  test("of another organization's session are refused as if the session were unknown", async () => {
    const [foreign, unknown] = await ask({
      sessions: [{ sessionId: world.theirs.sessionId }, { sessionId: 'ses_none' }],
    });
    expect({ ...foreign, sessionId: '' }).toEqual({ ...unknown, sessionId: '' });
    expect(foreign).toMatchObject({ code: 'not_found' });
    expect(foreign).not.toHaveProperty('digests');
  });

  test('of the ends of many long appends are spread over several answers', async () => {
    const long = Array.from({ length: 9 }, (_, n) => ({ ...payloadOf(n), text: 'x'.repeat(120_000) }));
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push(await store([...long, payloadOf(9)]));
    let asked = ids;
    const answers: number[] = [];
    while (asked.length > 0 && answers.length < 12) {
      const results = await ask({ sessions: asked.map((id) => ({ sessionId: id, from: 10 })) });
      answers.push(results.filter(({ digests, nextFrom }) => digests.length === 1 && nextFrom === null).length);
      asked = results.flatMap(({ sessionId: id, nextFrom }) => (nextFrom === 10 ? [id] : []));
    }
    expect(answers).toEqual([8, 4]);
  });

  test('of many sessions come in one answer, up to its limit', async () => {
    const sizes = [3, 0, 4, 2];
    const ids = await Promise.all(sizes.map((size) => store(Array.from({ length: size }, (_, n) => payloadOf(n)))));
    const places: object[] = ids.map((id) => ({ sessionId: id }));
    const whole = await ask({ sessions: places });
    expect(whole.map((one) => [one.sessionId, one.digests.length, one.nextFrom])).toEqual(
      ids.map((id, index) => [id, sizes[index], null]),
    );
    const limited = await ask({ sessions: places, limit: 5 });
    expect(limited.map(({ digests, nextFrom }) => [digests.length, nextFrom])).toEqual([
      [3, null],
      [0, null],
      [2, 3],
      [0, 1],
    ]);
    const rest = limited.filter(({ nextFrom }) => nextFrom !== null);
    const others = await ask({ sessions: rest.map((one) => ({ sessionId: one.sessionId, from: one.nextFrom })) });
    expect([...(limited[2]?.digests ?? []), ...(others[0]?.digests ?? [])]).toEqual(whole[2]?.digests);
    expect(others[1]).toEqual(whole[3]);
  });

  test('mark events with a masked secret', async () => {
    const id = await store([
      payloadOf(0),
      { source: source(1), text: 'token [REDACTED:x:0000]' },
      { source: source(2), text: 'withheld', redactions: { withheld: 1 } },
      { source: source(3), text: 'says "redactions":{} only' },
    ]);
    const { digests } = await get({}, id);
    expect(digests.map(({ masked }) => masked)).toEqual([undefined, true, true, undefined]);
  });

  describe('of a very large session', () => {
    const QUARTER = 240 * 1024;
    let large: string;
    beforeAll(async () => {
      const text = 'x'.repeat(QUARTER);
      large = await store(
        Array.from({ length: 60 }, (_, n) => ({ source: source(n), text })),
        25,
      );
    });

    /** The pages of a session, each with the number of turns that other work had meanwhile. */
    async function pages(limit: number, id: string) {
      const found: { sequences: number[]; turns: number }[] = [];
      for (let from: number | null = 1; from !== null; ) {
        let turns = 0;
        let counting = true;
        const count = () => {
          turns++;
          if (counting) setImmediate(count);
        };
        setImmediate(count);
        const page = await get({ from, limit }, id);
        counting = false;
        found.push({ sequences: page.digests.map(({ sequence }) => sequence), turns });
        from = page.nextFrom;
      }
      return found;
    }
    const whole = Array.from({ length: 60 }, (_, index) => index + 1);

    test('come in pages of at most 8 MiB, and yield to other work in each', async () => {
      const found = await pages(9999, large);
      expect(found.flatMap(({ sequences }) => sequences)).toEqual(whole);
      for (const { sequences, turns } of found) {
        expect(sequences.length * QUARTER).toBeLessThanOrEqual(8 * 1024 * 1024);
        expect(turns).toBeGreaterThanOrEqual(Math.floor((sequences.length * QUARTER) / (1024 * 1024 + QUARTER)));
      }
      expect(found).toHaveLength(2);
    });
  });

  test('take one query for the session and one for each mebibyte of events', async () => {
    const { store: own } = world.service;
    let queries = 0;
    const db = own.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        queries++;
        return result;
      },
    });
    const session = await findSession(db, wholeOrganization(world.ours.organizationId), sessionId);
    if (!session) throw new Error('the session is gone');
    const stream = await streamEventDigests(db, [{ sessionId, row: session, from: 1 }], EVENTS, NONCE);
    for await (const _ of stream);
    expect(queries).toBe(2);
  });
});
