import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contentDigest, eventDigest, follow } from '../../contract/chain.ts';
import { openEnvelope } from '../../contract/dsse.ts';
import { COUNTERSIGNATURE, type Countersigned, type Evidence } from '../../contract/evidence.ts';
import { type SaltKeys, saltsOf } from '../../contract/salts.ts';
import { createDigester } from '../../transcript/digester.ts';
import { writeMasked } from '../erase/mask/masked-events.ts';
import { findMask, insertMask, type SessionMask } from '../erase/mask/masks.ts';
import { allRows } from '../store/rows.ts';
import { findSaltKeys } from '../store/salt-keys.ts';
import type { EventMaskRow } from '../store/schema.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { startTestService } from './harness.ts';
import { MACHINE_KEY } from './requests.ts';
import { startWorld, type World } from './world.ts';

const PIN = '493817';
const KEY = 'key-1';
const NONCE = 'n'.repeat(22);
const SOURCE = { agent: 'codex', session: 's', file: '/t.jsonl', position: 1 };
const textWith = (pin: string) => JSON.stringify({ source: SOURCE, text: `the PIN is ${pin}, do not tell` });
const TEXTS = ['{"text":"before"}', textWith(PIN), '{"text":"after"}'];
/** As many as a test has time for. An attacker has time for all six-digit numbers. */
const CANDIDATES = [PIN, ...Array.from({ length: 500 }, (_, n) => String(100_000 + 1_787 * n))];

describe.each(ENGINES)('guessing a masked number on %s', (engine) => {
  let world: World;
  let sessionId: string;
  let place: { organizationId: string; sessionId: string };

  beforeEach(async () => {
    world = await startWorld(engine);
    sessionId = await openSession(world.service, world.ours.live);
    place = { organizationId: world.ours.organizationId, sessionId };
    const events = TEXTS.map((text) => `{"eventType":"notice","payload":${text}}`);
    const reply = await world.service.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: world.ours.live,
      body: Buffer.from(`{"events":[${events.join(',')}]}`),
      headers: { 'content-type': 'application/json', 'idempotency-key': KEY },
    });
    expect(reply.status).toBe(200);
  });
  afterEach(() => world.service.close());

  const ask = async (method: 'GET' | 'POST', path: string, as: string, body?: object) =>
    (await world.service.call(method, path, { as, ...(body && { body }) })).body;

  /** Everything that a reader and a machine are shown about the session. */
  async function readAll() {
    const { member, live } = world.ours;
    const ofReader = `/v1/organizations/me/sessions/${sessionId}`;
    const pages = [];
    for (const path of ['', '/events?limit=10', '/evidence', '/masks', '/facts', '/index', '/window']) {
      pages.push(await ask('GET', `${ofReader}${path}`, member));
    }
    pages.push(await ask('POST', `${ofReader}/shares`, member, { audience: 'organization', level: 'full', days: 1 }));
    pages.push(await ask('POST', '/v1/digests', live, { nonce: NONCE, sessions: [{ sessionId }] }));
    const evidence: Evidence = await ask('POST', `/v1/sessions/${sessionId}/evidence`, live, {
      machineKey: MACHINE_KEY,
    });
    const statement = openEnvelope(evidence.countersignature, COUNTERSIGNATURE).statement as Countersigned;
    return { evidence, statement, text: JSON.stringify([pages, evidence, statement]) };
  }

  /** The numbers that somebody finds with what was shown, by comparing all digests of each candidate with it. */
  function guess({ text, statement }: Awaited<ReturnType<typeof readAll>>, saltKeys: SaltKeys): string[] {
    const { digestPayload } = createDigester(NONCE);
    const salts = [saltsOf(saltKeys)(2), ...Object.values(saltKeys), ''].filter((salt) => salt !== undefined);
    const [first] = [saltsOf(saltKeys)(1)];
    const before = follow(
      { sequence: 0, hash: statement.start },
      eventDigest(first ?? '', contentDigest('notice', TEXTS[0] ?? '')),
    );
    return CANDIDATES.filter((candidate) => {
      const said = textWith(candidate);
      const content = contentDigest('notice', said);
      const digests = [content, ...salts.map((salt) => eventDigest(salt, content))];
      const { digest = content, content: keyed = content } = digestPayload(said);
      return [...digests, ...digests.map((one) => follow(before, one).hash), digest, keyed].some((one) =>
        text.includes(one),
      );
    });
  }

  test('is impossible with everything that is shown afterwards', async () => {
    const earlier = await readAll();
    await ask('POST', `/v1/organizations/me/sessions/${sessionId}/mask`, world.ours.member, { text: PIN });
    const shown = await readAll();
    expect(shown.text).not.toContain(PIN);
    expect(shown.evidence.masked).toHaveLength(1);
    expect(guess(shown, shown.evidence.saltKeys)).toEqual([]);
    // With the salt, which nobody is given any more, the number is found. So the attack itself works.
    expect(guess(shown, earlier.evidence.saltKeys)).toEqual([PIN]);
    // The salt is nowhere in the store either.
    const salt = saltsOf(earlier.evidence.saltKeys)(2);
    expect(saltsOf(await findSaltKeys(world.service.store.db, place))(2)).toBeUndefined();
    expect(shown.text).not.toContain(salt);
    // The whole tree of keys can be computed from no key that is left.
    expect(Object.values(shown.evidence.saltKeys)).not.toContain(Object.values(earlier.evidence.saltKeys)[0]);
  });

  test('stays impossible if the event is masked again, and its digest stays', async () => {
    const mask = (text: string) =>
      ask('POST', `/v1/organizations/me/sessions/${sessionId}/mask`, world.ours.member, { text });
    await mask(PIN);
    const { evidence } = await readAll();
    await mask('do not tell');
    const again = await readAll();
    expect(again.evidence.masked).toEqual(evidence.masked);
    expect(again.evidence.saltKeys).toEqual(evidence.saltKeys);
    const rows = await allRows(
      world.service.store.db,
      sql<EventMaskRow>`select * from event_masks where session_id = ${sessionId}`,
    );
    expect(rows).toMatchObject([{ sequence: 2, places: 2 }]);
  });

  test('is impossible by sending the events again under their key: every text is answered alike', async () => {
    const { service, ours } = world;
    await ask('POST', `/v1/organizations/me/sessions/${sessionId}/mask`, ours.member, { text: PIN });
    const rows = await allRows(
      service.store.db,
      sql<{ fingerprint: string | null }>`select fingerprint from appends where session_id = ${sessionId}`,
    );
    expect(rows).toEqual([{ fingerprint: null }]);
    // Another process, or this one after a restart, knows the append only from the store.
    const again = await startTestService(engine, {}, service.store);
    const answers: { status: number; body: unknown }[] = [];
    for (const candidate of CANDIDATES.slice(0, 3)) {
      const events = TEXTS.map((text) => `{"eventType":"notice","payload":${text.replace(PIN, candidate)}}`);
      const { status, body } = await again.call('POST', `/v1/sessions/${sessionId}/events`, {
        as: ours.live,
        body: Buffer.from(`{"events":[${events.join(',')}]}`),
        headers: { 'content-type': 'application/json', 'idempotency-key': KEY },
      });
      answers.push({ status, body });
    }
    expect(answers).toEqual(Array.from({ length: 3 }, () => ({ ...answers[0], status: 200 })));
    await again.app.close();
  });

  test('a mask that is interrupted while it is written leaves salt and text, and both go together', async () => {
    const { db } = world.service.store;
    const now = Date.now();
    const mask = await insertMask(
      db,
      { ...place, userId: world.ours.memberId, mark: '[REDACTED:manual:1f0c]', sealed: 'sealed', acceptedEvents: 0 },
      now,
    );
    const append = await db.selectFrom('appends').selectAll().where('session_id', '=', sessionId).executeTakeFirst();
    const events = [{ sequence: 2, content: contentDigest('notice', TEXTS[1] ?? ''), count: 1 }];
    const masked = [{ append: append as never, codec: 0, body: Buffer.from('masked'), events }];
    const before = await findSaltKeys(db, place);
    const dropped = { ...masked[0], append: { ...append, body: Buffer.from('changed meanwhile') } as never };
    const row = (await findMask(db, place.organizationId, mask.mask_id)) as SessionMask;
    const write = (given: typeof masked, along: () => Promise<void>) => writeMasked(db, row, given, now, along);
    await expect(write(masked, () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    expect(await write([dropped as never], async () => undefined)).toBe(false);
    expect(await findSaltKeys(db, place)).toEqual(before);
    expect(await allRows(db, sql`select * from event_masks where session_id = ${sessionId}`)).toEqual([]);
    expect(await write(masked, async () => undefined)).toBe(true);
    expect(saltsOf(await findSaltKeys(db, place))(2)).toBeUndefined();
  });
});
