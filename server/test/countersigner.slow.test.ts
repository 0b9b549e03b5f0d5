import { generateKeyPairSync } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ChainHead, chainStart, contentDigest, eventDigest } from '../../contract/chain.ts';
import { type SaltKeys, saltsOf, withoutSalts } from '../../contract/salts.ts';
import { headAfter, notices } from '../../contract/test/heads.ts';
import { AuditKey } from '../audit/heads.ts';
import { Background } from '../background.ts';
import { type ChainJob, followAppends } from '../derive/follow-appends.ts';
import { Countersigner } from '../evidence/countersigner.ts';
import { SessionLog } from '../ingest/session-log.ts';
import { findSaltKeys, writeSaltKeys } from '../store/salt-keys.ts';
import { findChain } from '../store/session-chains.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, openSession } from './factories.ts';
import { startTestService } from './harness.ts';

const LONGER_THAN_A_PART = 320;

describe.each(ENGINES)('countersigning on %s', (engine) => {
  let store: TestStore;
  let log: SessionLog;
  let place: { organizationId: string; sessionId: string };
  let newSession: () => Promise<string>;
  let close: () => Promise<void>;

  beforeAll(async () => {
    store = await openTestStore(engine);
    const service = await startTestService(engine, {}, store);
    const tenant = await createTenant(service);
    newSession = () => openSession(service, tenant.live);
    place = { organizationId: tenant.organizationId, sessionId: '' };
    close = () => service.close();
  });
  afterAll(async () => {
    await close();
    await store.dispose();
  });

  let countersigner: Countersigner;
  let failures: unknown[];
  /** The jobs of the thread. */
  let jobs: ChainJob[];
  /** The chain of the sent events, computed as their sender does. */
  let head: ChainHead;
  let saltKeys: SaltKeys;

  beforeEach(async () => {
    failures = [];
    jobs = [];
    const background = new Background({ atOnce: 2, onError: (error) => void failures.push(error) });
    const follow = async (job: ChainJob) => {
      jobs.push(job);
      return followAppends(job);
    };
    countersigner = new Countersigner({ db: store.db, key, thread: { follow }, background, now: Date.now });
    log = new SessionLog({ db: store.db, journal: store.journal, committed: () => undefined, now: Date.now });
    await begin();
  });

  async function begin(): Promise<void> {
    place.sessionId = await newSession();
    head = chainStart('codex', place.sessionId);
    saltKeys = await findSaltKeys(store.db, place);
  }

  const key = new AuditKey(generateKeyPairSync('ed25519').privateKey);
  const sign = () => countersigner.signSoon({ ...place, eventCount: head.sequence });

  async function append(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 50) {
      const texts = Array.from({ length: Math.min(50, left) }, (_, n) => `{"text":"${head.sequence}, ${n}"}`);
      const events = texts.map((text) => ({ eventType: 'notice', payload: Buffer.from(text) }));
      await log.append({ ...place, plane: 'live', sender: 'a', idempotencyKey: null, fingerprint: '', events });
      head = headAfter(head, notices(texts), saltKeys);
    }
  }

  async function signed(): Promise<ChainHead | undefined> {
    const chain = await findChain(store.db, place);
    return chain && { sequence: Number(chain.sequence), hash: chain.hash };
  }

  test('continues from the signed head, and reads only later events', async () => {
    await append(3);
    await sign();
    expect(await signed()).toEqual({ ...head });
    await append(5);
    jobs = [];
    await sign();
    expect(await signed()).toEqual(head);
    expect(jobs.flatMap(({ appends }) => appends.map((one) => one.first_sequence))).toEqual([4]);
    expect(failures).toEqual([]);
  });

  test('covers a session that is longer than one part of the work', async () => {
    await append(LONGER_THAN_A_PART);
    await sign();
    expect(await signed()).toEqual(head);
    expect(jobs.length).toBeGreaterThan(1);
  });

  test('covers the accepted text of an event that is masked before it is signed', async () => {
    await append(2);
    const digest = eventDigest(saltsOf(saltKeys)(2) ?? '', contentDigest('notice', '{"text":"0, 1"}'));
    await writeSaltKeys(store.db, place, withoutSalts(saltKeys, [2]));
    await sql`
      insert into event_masks (session_id, sequence, organization_id, digest, places, masked_by, masked_at)
      values (${place.sessionId}, 2, ${place.organizationId}, ${digest}, 1, 'u', 1)`.execute(store.db);
    const masked = await readFirstAppend();
    const body = Buffer.from(masked.toString('latin1').replace('0, 1', '****'), 'latin1');
    await sql`update appends set body = ${body} where session_id = ${place.sessionId}`.execute(store.db);
    await sign();
    expect(await signed()).toEqual(head);
  });

  test('signs nothing if an event is missing after the signed head', async () => {
    await append(50);
    await sign();
    const before = await signed();
    await append(50);
    await sql`delete from appends where session_id = ${place.sessionId} and first_sequence > 50`.execute(store.db);
    await append(1);
    await sign();
    expect(await signed()).toEqual(before);
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('event 51 of') })]);
  });

  test('signs all sessions that earlier processes left unsigned, even if one of them cannot be signed', async () => {
    const broken = place.sessionId;
    await sql`update sessions set deleted_at = 1 where session_id <> ${broken}`.execute(store.db);
    await append(3);
    await sql`delete from appends where session_id = ${broken}`.execute(store.db);
    await append(1);
    await begin();
    await append(3);
    await countersigner.catchUp();
    expect(await signed()).toEqual(head);
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining(`event 1 of ${broken}`) })]);
  });

  async function readFirstAppend(): Promise<Buffer> {
    const { body } = await store.db
      .selectFrom('appends')
      .select('body')
      .where('session_id', '=', place.sessionId)
      .executeTakeFirstOrThrow();
    return Buffer.from(body);
  }
});
