import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { splitPayload } from '../../transcript/parts.ts';
import { COMMANDS } from '../commands.ts';
import { EventMasker } from '../erase/mask/event-masker.ts';
import { findText } from '../erase/mask/finder.ts';
import { writeMasked } from '../erase/mask/masked-events.ts';
import { askByRules, findMask, jobOf, type SessionMask } from '../erase/mask/masks.ts';
import { recordAction } from '../store/audit.ts';
import { person } from '../store/audit-chain.ts';
import { readAppends } from '../store/events.ts';
import { endJob, type Job, takeJob } from '../store/jobs.ts';
import { forgetChanges, readSnapshot } from '../store/open.ts';
import { ENGINES } from './engines.ts';
import { openSession, whenDerived } from './factories.ts';
import { startTestService, testConfig } from './harness.ts';
import { filesWith, rowsWith } from './marker-scan.ts';
import { startWorld, type World } from './world.ts';

/** An invented token in the format of a vendor. */
const TOKEN = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
/** The token's word in the index of words. */
const WORD = TOKEN.slice(TOKEN.indexOf('_') + 1);
const SOURCE = { agent: 'codex', session: 's', file: '/t.jsonl', position: 1 };

describe.each(ENGINES)('a scan of stored sessions for secrets on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  async function scan(...options: string[]) {
    const { dataDir, databaseUrl } = world.service.store;
    const lines: string[] = [];
    const config = testConfig({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
    const outcome = await Promise.resolve(
      COMMANDS['scan-secrets']?.(config, (line) => void lines.push(line), options),
    ).then(
      () => 'clean',
      (error: Error) => error.message,
    );
    return { lines, outcome };
  }

  async function send(...payloads: object[]): Promise<string> {
    const { live } = world.ours;
    const sessionId = await openSession(world.service, live);
    const body = { events: payloads.map((payload) => ({ eventType: 'tool.result', payload })) };
    await world.service.call('POST', `/v1/sessions/${sessionId}/events`, { as: live, body });
    return sessionId;
  }

  test('finds nothing in sessions that were masked on the machine', async () => {
    await send({ output: 'password=[REDACTED:key-name:3f2a]', redactions: { 'key-name': 1 } });
    const { lines, outcome } = await scan();
    expect(outcome).toBe('clean');
    expect(lines.join('\n')).toMatch(/^Read \d+ sessions?\. Nothing was changed\.$/);
  });

  test("reports the rules' findings, even across parts, names the hold, and changes nothing", async () => {
    const { ours, service } = world;
    const whole = await send({ output: 'nothing' }, { output: `export GH=${TOKEN}` });
    const cut = JSON.stringify({ source: SOURCE, output: `${'x'.repeat(150)} ${TOKEN} ${'y'.repeat(300)}` });
    const parts = await send(...splitPayload(SOURCE, cut, 320));
    const target = { kind: 'session', id: parts };
    const body = { target, reason: 'a lawsuit' };
    const { holdId } = (await service.call('POST', '/v1/organizations/me/holds', { as: ours.admin, body })).body.hold;

    const { lines, outcome } = await scan();
    expect(outcome).toBe("Today's rules find something in 2 sessions. Mask it there; docs/masking.md says how.");
    expect(lines.slice(0, -1).sort()).toEqual(
      [`${whole}: 1 event: github-token 1`, `${parts}: 1 event: github-token 1; held by ${holdId}`].sort(),
    );
    expect(lines.join('\n')).not.toContain(TOKEN);

    const [first = '', second = ''] = [whole, parts].sort();
    expect((await scan('--after', first)).lines[0]).toContain(second);
    expect((await scan('--after', second)).outcome).toBe('clean');
    const url = `/v1/organizations/me/sessions/${whole}/events`;
    expect((await service.call('GET', url, { as: ours.member })).text).toContain(TOKEN);

    await service.call('POST', `/v1/organizations/me/sessions/${whole}/mask`, {
      as: ours.member,
      body: { text: TOKEN },
    });
    expect((await scan()).lines.slice(0, -1)).toEqual([`${parts}: 1 event: github-token 1; held by ${holdId}`]);
  });

  test('counts what a mask by the rules then masks: places in types of events and in parts, and no others', async () => {
    const { ours, service } = world;
    const { db } = service.store;
    const id = await openSession(service, ours.live);
    const body = { events: [{ eventType: TOKEN, payload: { output: `${TOKEN} and ${TOKEN}` } }] };
    await service.call('POST', `/v1/sessions/${id}/events`, { as: ours.live, body });
    // Only the name of the field reveals the secret, and the rules read so many parts some at a time.
    const named = JSON.stringify({ source: SOURCE, output: 'x'.repeat(20_000), password: 'opensesame-but-longer-9' });
    await send(...splitPayload(SOURCE, named, 260));
    const { lines } = await scan();
    expect(lines.slice(0, -1)).toEqual([`${id}: 1 event: github-token 3`]);
    await scan('--apply');
    const next = await startTestService(engine, {}, service.store);
    try {
      await vi.waitFor(async () => {
        const masks = await db
          .selectFrom('masks')
          .select(['session_id', 'outcome', 'events', 'places'])
          .where('session_id', 'is not', null)
          .execute();
        expect(masks).toEqual([{ session_id: id, outcome: 'done', events: 1, places: 3 }]);
      }, 30_000);
    } finally {
      await next.close();
    }
    expect((await scan()).outcome).toBe('clean');
  });

  test("with --apply masks the rules' findings, and leaves nothing of them in the store", async () => {
    const { ours, service } = world;
    const { db } = service.store;
    const whole = await send(
      { output: 'nothing', n: 1 },
      { output: `export GH=${TOKEN}`, more: { list: ['a', 'b"c'] } },
    );
    const cut = JSON.stringify({ source: SOURCE, output: `${'x'.repeat(150)} ${TOKEN} ${'y'.repeat(300)}` });
    const parts = await send(...splitPayload(SOURCE, cut, 320));
    const held = await send({ output: 'password: hunter2-but-longer-9' });
    const target = { kind: 'session', id: held };
    const body = { target, reason: 'a lawsuit' };
    await service.call('POST', '/v1/organizations/me/holds', { as: ours.admin, body });

    for (const id of [whole, parts]) await whenDerived(service, ours.member, id, id === whole ? 2 : 3);
    expect(await rowsWith(db, TOKEN, WORD)).not.toEqual([]);
    const { lines, outcome } = await scan('--apply');
    expect(outcome).toBe("Holds keep 1 session in which today's rules find something.");
    expect(lines.filter((line) => line.endsWith('; will be masked'))).toHaveLength(2);
    expect((await scan('--apply')).lines.filter((line) => line.endsWith('; was requested before'))).toHaveLength(2);

    const next = await startTestService(engine, {}, service.store);
    try {
      await vi.waitFor(async () => {
        const rows = await db.selectFrom('masks').where('session_id', 'is not', null).selectAll().execute();
        expect(rows.map(({ outcome, sealed, events, places }) => ({ outcome, sealed, events, places }))).toEqual([
          { outcome: 'done', sealed: null, events: 1, places: 1 },
          { outcome: 'done', sealed: null, events: expect.any(Number), places: 1 },
        ]);
      }, 30_000);
      for (const id of [whole, parts]) await whenDerived(service, ours.member, id, id === whole ? 2 : 3);
      await vi.waitFor(async () => expect(await rowsWith(db, TOKEN, WORD)).toEqual([]), 30_000);
      if (engine === 'sqlite') {
        await vi.waitFor(() => expect(filesWith(service.store.dataDir, TOKEN)).toEqual([]), 15_000);
      }
    } finally {
      await next.close();
    }
    const read = async (id: string) =>
      (await service.call('GET', `/v1/organizations/me/sessions/${id}/events`, { as: ours.member })).body.events;
    const mark = expect.stringMatching(/^export GH=\[REDACTED:github-token:[0-9a-f]{4}\]$/);
    expect((await read(whole)).map(({ payload }: { payload: object }) => payload)).toEqual([
      { output: 'nothing', n: 1 },
      { output: mark, more: { list: ['a', 'b"c'] } },
    ]);
    const { masks } = (await service.call('GET', `/v1/organizations/me/sessions/${whole}/masks`, { as: ours.member }))
      .body;
    expect(masks).toMatchObject([{ by: 'service', outcome: 'done', events: 1, places: 1 }]);
    const { entries } = (await service.call('GET', '/v1/organizations/me/audit', { as: ours.admin })).body;
    const told = entries.filter(({ action }: { action: string }) => action === 'session.masked');
    expect(told).toHaveLength(2);
    expect(told[0].actor).toEqual({ kind: 'service', id: 'scan-secrets' });
    expect((await scan()).lines).toHaveLength(2);
  });

  test('withdraws masks that it requested and that the service has not done yet', async () => {
    const { ours, service } = world;
    const { db } = service.store;
    const id = await send({ output: `export GH=${TOKEN}` });
    await scan('--apply');
    const { lines, outcome } = await scan('--cancel');
    expect([lines, outcome]).toEqual([
      ['The masks of 1 session were withdrawn. Texts that are masked already stay masked.'],
      'clean',
    ]);
    expect(await db.selectFrom('jobs').selectAll().execute()).toEqual([]);
    const url = `/v1/organizations/me/sessions/${id}`;
    const { masks } = (await service.call('GET', `${url}/masks`, { as: ours.member })).body;
    expect(masks).toMatchObject([{ by: 'service', outcome: 'cancelled', events: 0 }]);
    expect((await service.call('GET', `${url}/events`, { as: ours.member })).text).toContain(TOKEN);
    expect((await scan('--cancel')).lines[0]).toMatch(/^The masks of 0 sessions/);
    // The mask may be requested again.
    expect((await scan('--apply')).lines[0]).toContain('; will be masked');
  });

  test('requests a mask once, even if two scans come to the session at the same moment', async () => {
    const { db } = world.service.store;
    const sessionId = await send({ output: `export GH=${TOKEN}` });
    const place = { organizationId: world.ours.organizationId, sessionId, eventCount: 1 };
    // The first one waits before it ends, so that the second one cannot see its request.
    const request = (waits: number) =>
      db.transaction().execute(async (transaction) => {
        const isNew = await askByRules(transaction, place, Date.now());
        await pause(waits);
        return isNew;
      });
    const isNew = await Promise.all([request(200), request(200)]);
    expect(isNew.sort()).toEqual([false, true]);
    expect(await db.selectFrom('masks').where('session_id', 'is not', null).selectAll().execute()).toHaveLength(1);
  });

  // PostgreSQL keeps its log as it is told to.
  if (engine === 'sqlite') {
    test('leaves nothing in the files of what was masked before it is withdrawn, beside the service', async () => {
      const { ours, service } = world;
      const { db, dataDir } = service.store;
      const id = await send({ output: `export GH=${TOKEN}` });
      await whenDerived(service, ours.member, id, 1);
      await scan('--apply');
      const [mask] = (await db.selectFrom('masks').where('session_id', 'is not', null).selectAll().execute()) as [
        SessionMask,
      ];
      const masker = new EventMasker(findText(TOKEN, mask.mark));
      for await (const append of readAppends(db, ours.organizationId, id, 1, 1)) {
        expect(await writeMasked(db, mask, masker.add(append), Date.now(), async () => undefined)).toBe(true);
      }
      expect(filesWith(dataDir, TOKEN)).not.toEqual([]);
      expect((await scan('--cancel')).lines[0]).toMatch(/^The masks of 1 session /);
      expect(await rowsWith(db, TOKEN, WORD)).toEqual([]);
      expect(filesWith(dataDir, TOKEN)).toEqual([]);
    });

    test('does not wait for a reader that needs the log for long', async () => {
      const { store } = world.service;
      const place = { dataDir: store.dataDir, onError: () => expect.unreachable() };
      await readSnapshot(place, async (snapshot) => {
        await findMask(snapshot, world.ours.organizationId, 'msk_none');
        await send({ output: 'written since' });
        expect(await forgetChanges(place, 100)).toBe(false);
      });
      expect(await forgetChanges(place, 100)).toBe(true);
    });
  }

  // SQLite has one writer.
  if (engine === 'postgres') {
    test('withdraws without a deadlock with the running service', async () => {
      const { ours, service } = world;
      const { db } = service.store;
      await send({ output: `export GH=${TOKEN}` });
      await send({ output: `export GH=${TOKEN}` });
      await scan('--apply');
      const masks = await db
        .selectFrom('masks')
        .where('session_id', 'is not', null)
        .selectAll()
        .orderBy('mask_id')
        .execute();
      const [first, second] = masks as [SessionMask, SessionMask];
      const job = (await takeJob(db, jobOf(second), Date.now())) as Job;
      let withdrawing: ReturnType<typeof scan> | undefined;
      // As at the end of a mask: its job ends, and the log records it.
      await db.transaction().execute(async (transaction) => {
        await endJob(transaction, job);
        withdrawing = scan('--cancel');
        const told = () => db.selectFrom('audit_entries').select('details').execute();
        await vi
          .waitFor(async () => expect(JSON.stringify(await told())).toContain('cancelled'), 1_000)
          .catch(() => {});
        const target = { kind: 'session', id: second.session_id } as const;
        const happened = { actor: person(ours.memberId), action: 'session.masked', target } as const;
        await recordAction(transaction, ours.organizationId, happened, Date.now());
      });
      expect((await withdrawing)?.outcome).toBe('clean');
      expect(await findMask(db, ours.organizationId, first.mask_id)).toMatchObject({ outcome: 'cancelled' });
    });
  }

  test.each([['--cancel', '--apply'], ['--aply'], ['--after'], ['--after', 'a', 'b'], ['--apply', '--after']])(
    'refuses %j',
    async (...options) => {
      expect((await scan(...options)).outcome).toContain('There are no other options.');
    },
  );
});
