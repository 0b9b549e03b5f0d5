import { setTimeout as pause } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { contentDigest, eventDigest } from '../../contract/chain.ts';
import { saltsOf } from '../../contract/salts.ts';
import { splitPayload } from '../../transcript/parts.ts';
import { Background } from '../background.ts';
import type { Bus } from '../bus/bus.ts';
import { removeOld } from '../bus/retention.ts';
import { COMMANDS } from '../commands.ts';
import type { Wanted } from '../erase/mask/mask-program.ts';
import { MaskThread } from '../erase/mask/mask-thread.ts';
import { Masking } from '../erase/mask/masking.ts';
import { findMask, insertMask, jobOf } from '../erase/mask/masks.ts';
import { seal } from '../erase/mask/seal.ts';
import type { JobAsker } from '../idle-worker.ts';
import { Jobs } from '../jobs.ts';
import { writeSlice } from '../store/derived.ts';
import type { StoredAppend } from '../store/events.ts';
import { oneRow } from '../store/rows.ts';
import type { Db, SessionFactsRow, SessionRow } from '../store/schema.ts';
import { TEXT_COLUMNS } from '../store/session-columns.ts';
import { ENGINES } from './engines.ts';
import { appendTexts, openSession, whenDerived } from './factories.ts';
import { startTestService, type TestService, testConfig } from './harness.ts';
import { filesWith, rowsWith } from './marker-scan.ts';
import { playScenarios } from './scenarios.ts';
import { MASKS } from './tables/masks.ts';
import { startWorld, type World } from './world.ts';

playScenarios('masks', MASKS);

/** Only letters, so that it is also one word of the index. */
const MARKER = 'zqxplantedmarker';
const SOURCE = { agent: 'codex', session: 's', file: `/home/${MARKER}/t.jsonl`, position: 1 };

/** Events with the marker in every place where a captured event may have it. */
function planted(): { eventType: string; payload: object }[] {
  const cut = JSON.stringify({ source: SOURCE, output: `${'x'.repeat(150)}${MARKER}${'y'.repeat(300)}` });
  const input = { command: `curl -H '${MARKER}' h.test`, path: `/srv/${MARKER}/a.ts` };
  return [
    { eventType: 'session.meta', payload: { title: `on ${MARKER}`, cwd: `/srv/${MARKER}`, branch: MARKER } },
    { eventType: 'user.message', payload: { text: `the password is ${MARKER}, do not tell` } },
    { eventType: 'tool.call', payload: { source: SOURCE, callId: 'c1', name: 'Bash', input } },
    {
      eventType: 'tool.result',
      payload: { callId: 'c1', output: JSON.stringify({ [MARKER]: JSON.stringify(input) }) },
    },
    { eventType: 'assistant.message', payload: { text: 'nothing of interest' } },
    ...splitPayload(SOURCE, cut, 320).map((payload) => ({ eventType: 'tool.result', payload })),
  ];
}

describe.each(ENGINES)('masking a text in a session on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  async function plant(service: TestService): Promise<string> {
    const { environmentId, installationId, live } = world.ours;
    const facts = { title: `about ${MARKER}`, repoRoot: `/srv/${MARKER}`, gitBranch: `fix-${MARKER}` };
    const body = { environmentId, agentInstallationId: installationId, ...facts };
    const { sessionId } = (await service.call('POST', '/v1/sessions', { as: live, body })).body;
    const events = planted();
    const url = `/v1/sessions/${sessionId}/events`;
    // The first append ends within the parts; the second is stored as it was sent, compressed.
    await service.call('POST', url, { as: live, body: { events: events.slice(0, 6) } });
    await service.call('POST', url, {
      as: live,
      headers: { 'content-encoding': 'zstd', 'content-type': 'application/json' },
      body: zstdCompressSync(JSON.stringify({ events: events.slice(6) })),
    });
    await whenDerived(service, world.ours.member, sessionId, events.length);
    return sessionId;
  }

  const mask = (sessionId: string, body: object, as = world.ours.member, service = world.service) =>
    service.call('POST', `/v1/organizations/me/sessions/${sessionId}/mask`, { as, body });

  /** Masking as another process of the service does it. */
  function maskingOn(db: Db, before: (appends: StoredAppend[]) => Promise<void> = async () => undefined) {
    const { clock } = world.service;
    const onError = (error: unknown) => expect.unreachable(String(error));
    const [background, thread, now] = [new Background({ atOnce: 2, onError }), new MaskThread(), () => clock.now];
    const jobs = new Jobs({ db, background, now, onError });
    async function begin(wanted: Wanted, asker: JobAsker) {
      const masker = await thread.begin(wanted, asker);
      return { ...masker, add: (appends: StoredAppend[]) => before(appends).then(() => masker.add(appends)) };
    }
    const masking = new Masking({
      db,
      jobs,
      thread: { begin },
      pepper: 'pepper',
      now,
      onMasked: async () => undefined,
      onWaits: () => expect.unreachable(),
      noteDamage: () => expect.unreachable(),
    });
    const close = async () => {
      await background.close();
      await thread.close();
    };
    return { masking, jobs, close };
  }

  const rowsWithMarker = () => rowsWith(world.service.store.db, MARKER);

  test('covers every column of the session with a text of its client', async () => {
    const sessionId = await plant(world.service);
    const { db } = world.service.store;
    const texts = Object.fromEntries(TEXT_COLUMNS.map((name) => [name, `${name} of ${MARKER}`]));
    await db.updateTable('sessions').set(texts).where('session_id', '=', sessionId).execute();
    expect((await mask(sessionId, { text: MARKER })).status).toBe(200);
    const read = () => db.selectFrom('sessions').selectAll().where('session_id', '=', sessionId).executeTakeFirst();
    await expect.poll(async () => JSON.stringify(await read()), { timeout: 20_000 }).not.toContain(MARKER);
  });

  test('leaves nothing of the text in the store and in any answer, and everything else unchanged', async () => {
    const { service, ours } = world;
    const sessionId = await plant(service);
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    const read = async () => (await service.call('GET', `${url}/events?limit=500`, { as: ours.member })).body.events;
    const before = await read();
    const { saltKeys } = (await service.call('GET', `${url}/evidence`, { as: ours.member })).body;
    expect(await rowsWithMarker()).not.toEqual([]);

    const dry = (await mask(sessionId, { text: MARKER, dryRun: true })).body;
    expect(dry).toMatchObject({ fields: 3 });
    expect(dry.receipt).toBeUndefined();
    expect(await read()).toEqual(before);

    const reply = await mask(sessionId, { text: MARKER });
    expect(reply.status).toBe(200);
    const { mark, receipt } = reply.body;
    expect(mark).toMatch(/^\[REDACTED:manual:[0-9a-f]{4}\]$/);
    expect(receipt).toMatchObject({
      by: ours.memberId,
      outcome: 'done',
      events: dry.events,
      places: dry.places,
      fields: 3,
    });

    const after = await read();
    expect(after.map(withoutPayload)).toEqual(before.map(withoutPayload));
    expect(joined(after)).toEqual(JSON.parse(JSON.stringify(joined(before)).replaceAll(MARKER, mark)));
    expect(after[4]).toEqual(before[4]);

    await whenDerived(service, ours.member, sessionId, before.length);
    await vi.waitFor(async () => expect(await rowsWithMarker()).toEqual([]), 30_000);
    for (const path of ['', '/events', '/index', '/facts', '/window', '/masks', `/find?q=${mark}`]) {
      const answer = await service.call('GET', url + path, { as: ours.member });
      expect(answer.text, path).not.toContain(MARKER);
    }
    const search = `/v1/organizations/me/search?q=${MARKER}`;
    expect((await service.call('GET', search, { as: ours.member })).body.sessions).toEqual([]);
    expect(service.log.join('\n')).not.toContain(MARKER);

    const { masks } = (await service.call('GET', `${url}/masks`, { as: ours.owner })).body;
    expect(masks).toEqual([receipt]);
    const { entries } = (await service.call('GET', '/v1/organizations/me/audit', { as: ours.admin })).body;
    const told = entries.filter(({ action }: { action: string }) => action.startsWith('session.mask'));
    expect(told).toMatchObject([
      { action: 'session.masked', details: { mask: receipt.maskId, outcome: 'done', events: dry.events } },
      { action: 'session.mask_requested', actor: { kind: 'person', id: ours.memberId }, target: { id: sessionId } },
    ]);
    const digests = await service.store.db.selectFrom('event_masks').selectAll().orderBy('sequence').execute();
    expect(digests).toHaveLength(dry.events);
    expect(digests[1]).toMatchObject({
      sequence: 2,
      digest: eventDigest(saltsOf(saltKeys)(2) ?? '', contentDigest('user.message', JSON.stringify(before[1].payload))),
    });
    if (engine !== 'sqlite') return;
    await vi.waitFor(() => expect(filesWith(service.store.dataDir, MARKER)).toEqual([]), 15_000);
  });

  test('can be repeated, and then finds nothing', async () => {
    const sessionId = await plant(world.service);
    await mask(sessionId, { text: MARKER });
    const again = await mask(sessionId, { text: MARKER });
    expect(again.body).toMatchObject({ events: 0, places: 0, fields: 0, receipt: { outcome: 'done' } });
  });

  test('is continued by the next process if one was killed', async () => {
    const { ours, service } = world;
    const sessionId = await plant(service);
    const { db } = service.store;
    const pepper = (await oneRow(db, sql<{ value: string }>`select value from settings where name = 'pepper'`)).value;
    const place = { organizationId: ours.organizationId, sessionId, userId: ours.memberId, acceptedEvents: 0 };
    const mark = '[REDACTED:manual:0000]';
    await insertMask(db, { ...place, mark, sealed: seal(pepper, sessionId, MARKER) }, service.clock.now);
    expect(
      JSON.stringify(await db.selectFrom('masks').where('session_id', 'is not', null).selectAll().execute()),
    ).not.toContain(MARKER);
    const next = await startTestService(engine, {}, service.store);
    try {
      await vi.waitFor(async () => {
        const rows = await db.selectFrom('masks').where('session_id', 'is not', null).selectAll().execute();
        expect(rows).toMatchObject([{ outcome: 'done', sealed: null, fields: 3 }]);
      }, 20_000);
      await whenDerived(service, ours.member, sessionId, planted().length);
      await vi.waitFor(async () => expect(await rowsWithMarker()).toEqual([]), 30_000);
    } finally {
      await next.close();
    }
  });

  test('continues behind the masked events if its process hangs or is killed', async () => {
    const { ours, service } = world;
    const { db } = service.store;
    const sessionId = await openSession(service, ours.live);
    const texts = Array.from({ length: 50 }, (_, n) => `${n} ${MARKER}`);
    for (const text of texts) await appendTexts(service, ours, sessionId, [text]);
    const read: number[] = [];
    const watching = db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows[0] && 'body' in result.rows[0])
          read.push(...result.rows.map((row) => Number(row.first_sequence)));
        return result;
      },
    });
    const [reached, killed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = maskingOn(watching, async ([append]) => {
      if (Number(append?.first_sequence) <= 20) return;
      reached.resolve();
      await killed.promise;
    });
    const row = await first.masking.ask({ organizationId: ours.organizationId, sessionId }, ours.memberId, MARKER);
    void first.jobs.start(jobOf(row));
    await reached.promise;
    const [job] = await db.selectFrom('jobs').selectAll().execute();
    expect(job?.progress).toBe('20');
    // The lease has expired.
    await sql`update jobs set not_before = 0`.execute(db);
    read.length = 0;
    const next = maskingOn(watching);
    await next.jobs.start(jobOf(row));
    expect(Math.min(...read)).toBe(21);
    // The process that hung writes nothing more.
    killed.resolve();
    await first.close();
    await next.close();
    const { organizationId } = ours;
    expect(await findMask(db, organizationId, row.mask_id)).toMatchObject({ outcome: 'done', events: 50, places: 50 });
    expect((await rowsWithMarker()).filter((one) => one.startsWith('appends'))).toEqual([]);
  });

  test('reads a constantly growing session once, and masks the events up to that moment', async () => {
    const { ours, service } = world;
    const sessionId = await plant(service);
    const { db } = service.store;
    const append = () =>
      service.call('POST', `/v1/sessions/${sessionId}/events`, {
        as: ours.live,
        body: { events: [{ eventType: 'user.message', payload: { text: `more ${MARKER}` } }] },
      });
    let grown = 0;
    let reads = 0;
    const growing = db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        const [row] = result.rows;
        if (!row || !('body' in row)) return result;
        if (row.first_sequence === 1) reads++;
        if (grown < 20) {
          grown++;
          await append();
        }
        return result;
      },
    });
    const { masking, close } = maskingOn(growing);
    const row = await masking.mask({ organizationId: ours.organizationId, sessionId }, ours.memberId, MARKER);
    await close();
    expect(row).toMatchObject({ outcome: 'done' });
    expect(reads).toBe(1);
    expect(grown).toBe(2);
    const url = `/v1/organizations/me/sessions/${sessionId}/events?limit=500`;
    const { events } = (await service.call('GET', url, { as: ours.member })).body;
    const first = planted().length;
    expect(JSON.stringify(events.slice(0, first + 1))).not.toContain(MARKER);
  });

  test('rejects rows that a process derived from the unmasked events', async () => {
    const { ours, service } = world;
    const sessionId = await plant(service);
    const { db } = service.store;
    const row = await oneRow(db, sql<SessionRow>`select * from sessions where session_id = ${sessionId}`);
    const read = () => oneRow(db, sql<SessionFactsRow>`select * from session_facts where session_id = ${sessionId}`);
    const stale = await read();
    await mask(sessionId, { text: MARKER });
    await whenDerived(service, ours.member, sessionId, planted().length);
    const { version, derived_through, next_chunk, is_rewritten, is_final, facts, masks, claimed_until, ...rest } =
      stale;
    const { session_id: _, organization_id: __, plane: ___, started_at: ____, ...columns } = rest;
    const before = { version, derived_through, next_chunk, is_rewritten, is_final, facts, masks };
    const slice = { row, before, after: { ...before, claimed_until }, columns, isAnew: false };
    const nothing = { chunks: [], days: undefined, values: { added: [], removed: [] } };
    // The session has as many events as before, so only the number of masks shows the change.
    expect((await read()).derived_through).toBe(derived_through);
    expect(await writeSlice(db, { ...slice, ...nothing })).toBe(false);
    expect((await read()).facts).not.toContain(MARKER);
  });

  test('is refused if a hold keeps the session, and the answer names the hold', async () => {
    const { ours, service } = world;
    const sessionId = await plant(service);
    const body = { target: { kind: 'session', id: sessionId }, reason: 'a lawsuit' };
    const { holdId } = (await service.call('POST', '/v1/organizations/me/holds', { as: ours.admin, body })).body.hold;
    for (const dryRun of [true, false]) {
      const reply = await mask(sessionId, { text: MARKER, dryRun });
      expect([reply.status, reply.body.code]).toEqual([409, 'held']);
      expect(reply.body.error).toContain(holdId);
    }
    expect(await rowsWithMarker()).not.toEqual([]);
  });

  test('is for members who may read the session', async () => {
    const { ours, theirs, service } = world;
    const sessionId = await plant(service);
    const outcome = async (as: string) => (await mask(sessionId, { text: 'nowhere at all' }, as)).status;
    expect(await outcome(ours.live)).toBe(401);
    expect(await outcome(theirs.owner)).toBe(404);
    for (const [visibility, status] of [
      ['facts', 403],
      ['private', 404],
    ] as const) {
      await sql`update sessions set visibility = ${visibility}, user_id = 'usr_else' where session_id = ${sessionId}`.execute(
        service.store.db,
      );
      expect(await outcome(ours.member)).toBe(status);
    }
  });

  test.each(['', 'a', 'abc', '     ', `  a   `, 'x'.repeat(20_001), 'nul\u0000nul', 'half \ud800'])(
    'refuses %j',
    async (text) => {
      expect((await mask(world.ours.sessionId, { text })).status).toBe(400);
    },
  );
});

describe.runIf(inject('natsUrl'))('masking a text over an event bus', () => {
  let world: World;
  let bus: Bus;
  beforeEach(async () => {
    world = await startWorld('bus');
    bus = world.service.store.bus as Bus;
  });
  afterEach(() => world.service.close());

  /** Texts of the messages that are still on the bus. */
  async function sent(): Promise<string[]> {
    const { state } = await bus.manager.streams.info(bus.name);
    const texts: string[] = [];
    for (let next = state.first_seq; next <= state.last_seq; ) {
      const message = await bus.messageFrom(next);
      if (!message) break;
      texts.push(Buffer.from(message.data).toString('utf8'));
      next = message.seq + 1;
    }
    return texts;
  }

  const lock = (then: () => Promise<void>) =>
    world.service.store.db.transaction().execute(async (transaction) => {
      // Workers wait for the session, so that none of its events is written.
      await sql`select 1 from sessions for update`.execute(transaction);
      await then();
    });

  /** Opens a session with one event and waits until it is derived. */
  async function openDerived() {
    const { ours, service } = world;
    const { environmentId, installationId, live } = ours;
    const opening = { environmentId, agentInstallationId: installationId };
    const { sessionId } = (await service.call('POST', '/v1/sessions', { as: live, body: opening })).body;
    const append = (text: string) =>
      service.call('POST', `/v1/sessions/${sessionId}/events`, {
        as: live,
        body: { events: [{ eventType: 'user.message', payload: { text } }] },
      });
    await append('before');
    await whenDerived(service, ours.member, sessionId, 1);
    return { sessionId, append };
  }

  test('waits for acknowledged events that are not written yet, and leaves nothing of the text on the bus', async () => {
    const { ours, service } = world;
    const { sessionId, append } = await openDerived();
    let masking: ReturnType<typeof service.call> | undefined;
    await lock(async () => {
      expect((await append(`then ${MARKER}`)).status).toBe(202);
      expect((await sent()).join()).toContain(MARKER);
      const url = `/v1/organizations/me/sessions/${sessionId}/mask`;
      masking = service.call('POST', url, { as: ours.member, body: { text: MARKER } });
      await pause(300);
    });
    expect((await masking)?.body).toMatchObject({ events: 1, places: 1, receipt: { outcome: 'done' } });
    expect((await sent()).join()).not.toContain(MARKER);
    expect((await append('after')).body).toMatchObject({ firstSequence: 3 });
    await whenDerived(service, ours.member, sessionId, 3);
    const url = `/v1/organizations/me/sessions/${sessionId}/events?limit=9`;
    const { events } = (await service.call('GET', url, { as: ours.member })).body;
    const mark = expect.stringMatching(/^then \[REDACTED:manual:[0-9a-f]{4}\]$/);
    expect(events.map(({ payload }: { payload: { text: string } }) => payload.text)).toEqual(['before', mark, 'after']);
  });

  test('of all sessions waits for such events too', async () => {
    const { ours, service } = world;
    const { sessionId, append } = await openDerived();
    await lock(async () => {
      expect((await append(`then ${MARKER}`)).status).toBe(202);
      const masks = '/v1/organizations/me/masks';
      expect((await service.call('POST', masks, { as: ours.admin, body: { text: MARKER } })).status).toBe(202);
      await pause(1_000);
    });
    await vi.waitFor(async () => {
      const rows = await service.store.db.selectFrom('masks').where('session_id', 'is not', null).selectAll().execute();
      expect(rows).toMatchObject([{ session_id: sessionId, outcome: 'done', events: 1 }]);
    }, 30_000);
    expect((await sent()).join()).not.toContain(MARKER);
  });

  test('by the rules of a scan leaves nothing of the text on the bus', async () => {
    const { ours, service } = world;
    const { db, dataDir, databaseUrl } = service.store;
    const token = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
    const sessionId = await openSession(service, ours.live);
    await appendTexts(service, ours, sessionId, [`export GH=${token}`]);
    await whenDerived(service, ours.member, sessionId, 1);
    expect((await sent()).join()).toContain(token);
    const config = testConfig({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
    await COMMANDS['scan-secrets']?.(config, () => undefined, ['--apply']);
    const next = await startTestService('bus', {}, service.store);
    try {
      await vi.waitFor(async () => {
        const rows = await db.selectFrom('masks').where('session_id', 'is not', null).selectAll().execute();
        expect(rows).toMatchObject([{ session_id: sessionId, outcome: 'done', events: 1 }]);
      }, 30_000);
    } finally {
      await next.close();
    }
    expect((await sent()).join()).not.toContain(token);
  });

  test('keeps unsettled messages if messages between older ones are gone', async () => {
    const { ours, service } = world;
    const { environmentId, installationId, live } = ours;
    const opening = { environmentId, agentInstallationId: installationId };
    const open = async () => (await service.call('POST', '/v1/sessions', { as: live, body: opening })).body.sessionId;
    const [first, other] = [await open(), await open()];
    for (let round = 0; round < 6; round++) {
      for (const id of [first, other, first]) {
        const body = { events: [{ eventType: 'user.message', payload: { text: `${MARKER} ${id}` } }] };
        await service.call('POST', `/v1/sessions/${id}/events`, { as: live, body });
      }
    }
    await whenDerived(service, ours.member, first, 12);
    await service.call('POST', `/v1/organizations/me/sessions/${first}/mask`, {
      as: ours.member,
      body: { text: MARKER },
    });
    const before = (await sent()).filter((text) => text.includes(other));
    expect(before).toHaveLength(6);
    await removeOld(bus, 0);
    expect((await sent()).filter((text) => text.includes(other))).toEqual(before);
  });
});

const withoutPayload = ({ payload: _, ...rest }: { payload: unknown }) => rest;

/** Payloads, with those in parts joined into one. */
function joined(events: { payload: { json?: string } }[]): unknown[] {
  const parts = events.flatMap(({ payload }) => payload.json ?? []);
  return [
    ...events.filter(({ payload }) => payload.json === undefined).map(({ payload }) => payload),
    JSON.parse(parts.join('')),
  ];
}
