import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventDigest, LeafDigest, PayloadDigest } from '../../contract/digest.ts';
import { createDigester } from '../../contract/digester.ts';
import { splitPayload } from '../../contract/parts.ts';
import { streamEventDigests } from '../ingest/digests.ts';
import { findSession } from '../store/sessions.ts';
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

  async function get(path: string, query: string, id = sessionId, nonce = NONCE) {
    const url = `/v1/sessions/${id}/${path}?nonce=${nonce}${query}`;
    const { body } = await world.service.call('GET', url, { as: world.ours.live });
    return body as { digests: EventDigest[]; payloads: PayloadDigest[]; nextFrom: number | null };
  }

  test('are those of the very text that was sent', async () => {
    const { digests } = await get('digests', `&limit=${EVENTS}`);
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

  test('mean nothing under another nonce, or for a session of another name', async () => {
    const [one] = (await get('digests', '&limit=1')).digests;
    const [other] = (await get('digests', '&limit=1', sessionId, 'x'.repeat(22))).digests;
    const renamed = await store([{ ...payloadOf(0), source: source(0, { session: 'another' }) }]);
    const [foreign] = (await get('digests', '', renamed)).digests;
    for (const key of ['digest', 'content', 'file', 'record'] as const) {
      expect(other?.[key]).not.toBe(one?.[key]);
      expect(foreign?.[key]).not.toBe(one?.[key]);
    }
  });

  test('have a content that does not depend on the file and the position', async () => {
    const moved = await store([{ ...payloadOf(0), source: { ...source(0), file: 'moved.jsonl', position: 77 } }]);
    const [one] = (await get('digests', '&limit=1')).digests;
    const [other] = (await get('digests', '', moved)).digests;
    expect(other).toMatchObject({ content: one?.content, record: one?.record, position: 77 });
    expect(other?.digest).not.toBe(one?.digest);
    expect(other?.file).not.toBe(one?.file);
  });

  test.each([1, 7, 50, 229, 230, 9999])('pages of %i make the whole', async (limit) => {
    const seen: number[] = [];
    for (let from: number | null = 1; from !== null; ) {
      const page = await get('digests', `&from=${from}&limit=${limit}`);
      seen.push(...page.digests.map(({ sequence }) => sequence));
      from = page.nextFrom;
    }
    expect(seen).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1));
  });

  test('a page beyond the end is empty, and the default is 100', async () => {
    expect(await get('digests', '&from=231')).toEqual({ digests: [], nextFrom: null });
    expect((await get('digests', '')).nextFrom).toBe(101);
  });

  test('of leaves tell which one differs, and where a mark stands', async () => {
    const id = await store([
      { source: source(0), text: 'one', rest: { 'a/b': [1, { c: 'two' }], '[REDACTED:x:0000]': 1, none: [] } },
      { source: source(0), text: '[REDACTED:x:0000]', rest: { 'a/b': [1, { c: 'three' }], none: {} } },
    ]);
    const { payloads } = await get('leaf-digests', '&limit=50', id);
    const own = createDigester(NONCE).digestLeaves(
      JSON.stringify({ source: source(0), text: 'one', rest: { 'a/b': [1, { c: 'two' }], none: [] } }),
    );
    const pointers = new Map(Array.from(own, (leaf) => [leaf.path, leaf.pointer()]));
    const [one, other] = payloads.map(({ leaves }) => new Map(leaves.map((leaf) => [leaf.path, leaf])));
    const differs = (leaf: LeafDigest) => other?.get(leaf.path)?.value !== leaf.value;
    const different = [...(one?.values() ?? [])].filter(differs);
    expect(different.map(({ path, field, masked }) => [pointers.get(path), field, masked])).toEqual([
      ['/text', 'text', undefined],
      ['/rest/a~1b/1/c', 'rest', undefined],
      [undefined, 'rest', true],
      ['/rest/none', 'rest', undefined],
    ]);
    expect([...(other?.values() ?? [])].filter(({ masked }) => masked).map(({ field }) => field)).toEqual(['text']);
  });

  test('of leaves are those of the payload where all its parts are asked for', async () => {
    const payload = payloadOf(7);
    const parts = splitPayload(payload.source, JSON.stringify(payload), 300);
    expect(parts.length).toBeGreaterThan(1);
    const id = await store([payloadOf(1), ...parts, payloadOf(2), ...parts.slice(1), ...parts]);
    const whole = await get('leaf-digests', '&limit=50', id);
    const direct = Array.from(createDigester(NONCE).digestLeaves(JSON.stringify(payload)), ({ value }) => value);
    const sizes = whole.payloads.map(({ events }) => events);
    expect(sizes).toEqual([1, parts.length, 1, ...parts.slice(1).map(() => 1), parts.length]);
    expect(whole.payloads[1]?.leaves.map(({ value }) => value)).toEqual(direct);
    expect(whole.payloads.at(-1)?.leaves.map(({ value }) => value)).toEqual(direct);
    const cut = await get('leaf-digests', `&from=2&limit=${parts.length - 1}`, id);
    expect(cut.payloads.map(({ events }) => events)).toEqual(parts.slice(1).map(() => 1));
  });

  test('of leaves are answered for parts that make no JSON', async () => {
    const parts = ['{"source":{"session":"s","file":"f","position":0},"a":{"b', ''].map((json, index) => ({
      source: source(0),
      part: index + 1,
      of: 2,
      json,
    }));
    const { payloads } = await get('leaf-digests', '&limit=50', await store(parts));
    expect(payloads.map(({ events }) => events)).toEqual([1, 1]);
  });

  describe('of very much', () => {
    const QUARTER = 240 * 1024;
    let large: string;
    beforeAll(async () => {
      const text = 'x'.repeat(QUARTER);
      large = await store(
        Array.from({ length: 60 }, (_, n) => ({ source: source(n), text })),
        25,
      );
    });

    /** The pages of a session, each with how often others had their turn while it was made. */
    async function pages(path: 'digests' | 'leaf-digests', limit: number, id: string) {
      const found: { sequences: number[]; turns: number }[] = [];
      for (let from: number | null = 1; from !== null; ) {
        let turns = 0;
        let counting = true;
        const count = () => {
          turns++;
          if (counting) setImmediate(count);
        };
        setImmediate(count);
        const page = await get(path, `&from=${from}&limit=${limit}`, id);
        counting = false;
        const items = path === 'digests' ? page.digests : page.payloads;
        found.push({ sequences: items.map(({ sequence }) => sequence), turns });
        from = page.nextFrom;
      }
      return found;
    }
    const whole = Array.from({ length: 60 }, (_, index) => index + 1);

    test('come in pages of at most 8 MiB, and let others have their turn at each', async () => {
      const found = await pages('digests', 9999, large);
      expect(found.flatMap(({ sequences }) => sequences)).toEqual(whole);
      for (const { sequences, turns } of found) {
        expect(sequences.length * QUARTER).toBeLessThanOrEqual(8 * 1024 * 1024);
        expect(turns).toBeGreaterThanOrEqual(Math.floor((sequences.length * QUARTER) / (1024 * 1024 + QUARTER)));
      }
      expect(found).toHaveLength(2);
    });

    test('come in pages of at most 1 MiB where leaves are asked for', async () => {
      const found = await pages('leaf-digests', 50, large);
      expect(found.flatMap(({ sequences }) => sequences)).toEqual(whole);
      for (const { sequences } of found) expect(sequences.length * QUARTER).toBeLessThanOrEqual(1024 * 1024);
    });

    test('let others have their turn every 2,048 leaves', async () => {
      const leaves = 20_000;
      const id = await store([{ source: source(0), list: Array(leaves).fill(1) }]);
      const [page] = await pages('leaf-digests', 1, id);
      expect(page?.turns).toBeGreaterThanOrEqual(leaves / 2_048);
    });

    test('come whole where one payload in parts is larger than a page', async () => {
      const payload = { source: source(0), rest: { list: Array(60_000).fill(1), text: 'y'.repeat(1024 * 1024) } };
      const parts = splitPayload(payload.source, JSON.stringify(payload), QUARTER);
      const id = await store([payloadOf(1), ...parts, payloadOf(2)], 5);
      const first = await get('leaf-digests', '&limit=50', id);
      expect(first).toMatchObject({ payloads: [{ sequence: 1, events: 1 }], nextFrom: 2 });
      const second = await get('leaf-digests', '&from=2&limit=50', id);
      expect(second).toMatchObject({ payloads: [{ sequence: 2, events: parts.length }], nextFrom: 2 + parts.length });
      expect(second.payloads[0]?.leaves).toHaveLength(60_000 + 6);
    });

    test('in parts that make a text no parser should take are answered one by one', async () => {
      const text = `{"source":${JSON.stringify(source(0))},"a":${'['.repeat(300_000)}${']'.repeat(300_000)}}`;
      const parts = splitPayload(source(0), text, QUARTER);
      const { payloads } = await get('leaf-digests', '&limit=50', await store(parts));
      expect(payloads.map(({ events }) => events)).toEqual(parts.map(() => 1));
    });
  });

  test('take one query for the session and two for a mebibyte of events', async () => {
    const { store: own } = world.service;
    let queries = 0;
    const db = own.db.withPlugin({
      transformQuery({ node }) {
        queries++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const session = await findSession(db, world.ours.organizationId, sessionId);
    if (!session) throw new Error('the session is gone');
    const stream = await streamEventDigests(db, session, { from: 1, limit: EVENTS }, NONCE);
    for await (const _ of stream);
    expect(queries).toBe(3);
  });
});
