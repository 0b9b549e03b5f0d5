import { generateKeyPairSync } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ChainHead, chainStart, contentDigest, eventDigest } from '../../contract/chain.ts';
import { type SaltKeys, saltsOf, withoutSalts } from '../../contract/salts.ts';
import { headAfter, notices } from '../../contract/test/heads.ts';
import { AuditKey } from '../audit/heads.ts';
import { Background } from '../background.ts';
import { deriveSession } from '../derive/derive-session.ts';
import { Witness } from '../evidence/witness.ts';
import { SessionLog } from '../ingest/session-log.ts';
import { findSaltKeys, writeSaltKeys } from '../store/salt-keys.ts';
import { findChain } from '../store/session-chains.ts';
import { createDeriveHere, VERSION_HERE } from './derived.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, openSession } from './factories.ts';
import { startTestService } from './harness.ts';

const LONGER_THAN_A_SLICE = 260;

describe.each(ENGINES)('countersigning beside deriving on %s', (engine) => {
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

  let witness: Witness;
  let failures: unknown[];
  /** The chain of the sent events, computed as their sender does. */
  let head: ChainHead;
  let saltKeys: SaltKeys;

  beforeEach(async () => {
    failures = [];
    witness = newWitness();
    log = new SessionLog({
      db: store.db,
      journal: store.journal,
      committed: (change) => witness.note(change),
      now: Date.now,
    });
    await begin();
  });

  async function begin(): Promise<void> {
    place.sessionId = await newSession();
    head = chainStart('codex', place.sessionId);
    saltKeys = await findSaltKeys(store.db, place);
  }

  const key = new AuditKey(generateKeyPairSync('ed25519').privateKey);
  const newWitness = () => {
    const background = new Background({ atOnce: 2, onError: (error) => void failures.push(error) });
    return new Witness({ db: store.db, key, background, now: Date.now });
  };

  async function append(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 50) {
      const texts = Array.from({ length: Math.min(50, left) }, (_, n) => `{"text":"${head.sequence}, ${n}"}`);
      const events = texts.map((text) => ({ eventType: 'notice', payload: Buffer.from(text) }));
      await log.append({ ...place, plane: 'live', sender: 'a', idempotencyKey: null, fingerprint: '', events });
      head = headAfter(head, notices(texts), saltKeys);
    }
  }

  const deriveHere = createDeriveHere();
  const derive = () =>
    deriveSession(
      {
        db: store.db,
        derive: async (job) => deriveHere(job),
        digests: witness,
        version: VERSION_HERE,
        now: Date.now,
        rest: async () => undefined,
        signal: new AbortController().signal,
      },
      place.organizationId,
      place.sessionId,
    );

  async function signed(): Promise<ChainHead | undefined> {
    const chain = await findChain(store.db, place);
    return chain && { sequence: Number(chain.sequence), hash: chain.hash };
  }

  const removeAppends = () => sql`delete from appends where session_id = ${place.sessionId}`.execute(store.db);

  test('uses the digests of events that deriving has read, and reads none of them again', async () => {
    await append(LONGER_THAN_A_SLICE);
    await derive();
    await removeAppends();
    await witness.signNoted();
    expect(await signed()).toEqual(head);
    expect(failures).toEqual([]);
  });

  test('reads events that are not derived yet, before and behind the derived ones', async () => {
    await append(3);
    await derive();
    await witness.sign(await rowOf());
    await append(60);
    await witness.signNoted();
    expect(await signed()).toEqual(head);
    await append(5);
    await derive();
    await append(5);
    await witness.signNoted();
    expect(await signed()).toEqual(head);
    expect(failures).toEqual([]);
  });

  test('continues from the signed head if a session is derived again from its first event', async () => {
    await append(70);
    await derive();
    await witness.signNoted();
    const before = await signed();
    await sql`update session_facts set version = 0 where session_id = ${place.sessionId}`.execute(store.db);
    witness.note({ ...place, eventCount: head.sequence });
    await derive();
    await witness.signNoted();
    expect(await signed()).toEqual(before);
    await append(1);
    await derive();
    await witness.signNoted();
    expect(await signed()).toEqual(head);
  });

  test('covers the accepted text if deriving has read the masked text', async () => {
    await append(2);
    const digest = eventDigest(saltsOf(saltKeys)(2) ?? '', contentDigest('notice', '{"text":"0, 1"}'));
    await writeSaltKeys(store.db, place, withoutSalts(saltKeys, [2]));
    await sql`
      insert into event_masks (session_id, sequence, organization_id, digest, places, masked_by, masked_at)
      values (${place.sessionId}, 2, ${place.organizationId}, ${digest}, 1, 'u', 1)`.execute(store.db);
    const masked = await readFirstAppend();
    const body = Buffer.from(masked.toString('latin1').replace('0, 1', '****'), 'latin1');
    await sql`update appends set body = ${body} where session_id = ${place.sessionId}`.execute(store.db);
    await derive();
    await witness.signNoted();
    expect(await signed()).toEqual(head);
  });

  test('signs nothing if an event is missing between the signed head and the derived events', async () => {
    await append(50);
    await witness.signNoted();
    const before = await signed();
    await append(50);
    await derive();
    // After the restart it has no digests of these events.
    witness = newWitness();
    await sql`delete from appends where session_id = ${place.sessionId} and first_sequence > 50`.execute(store.db);
    await append(1);
    await derive();
    await witness.signNoted();
    expect(await signed()).toEqual(before);
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('event 51 of') })]);
  });

  test.each(['that were noted', 'that another process left'])(
    'signs the sessions %s even if one of them cannot be signed',
    async (which) => {
      const broken = place.sessionId;
      await sql`update sessions set deleted_at = 1 where session_id <> ${broken}`.execute(store.db);
      await append(3);
      await sql`delete from appends where session_id = ${broken}`.execute(store.db);
      await append(1);
      await begin();
      await append(3);
      await (which === 'that were noted' ? witness.signNoted() : newWitness().catchUp());
      expect(await signed()).toEqual(head);
      expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining(`event 1 of ${broken}`) })]);
    },
  );

  const rowOf = () =>
    store.db.selectFrom('sessions').selectAll().where('session_id', '=', place.sessionId).executeTakeFirstOrThrow();

  async function readFirstAppend(): Promise<Buffer> {
    const { body } = await store.db
      .selectFrom('appends')
      .select('body')
      .where('session_id', '=', place.sessionId)
      .executeTakeFirstOrThrow();
    return Buffer.from(body);
  }
});
