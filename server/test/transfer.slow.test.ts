import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AuditKey } from '../audit/heads.ts';
import { idOfKey } from '../audit/signers.ts';
import { runCommand } from '../commands.ts';
import type { Engine } from '../store/dialect.ts';
import { MOVED } from '../store/tables.ts';
import { Parts } from '../transfer/format.ts';
import { EXPORTED, NOT_EXPORTED } from '../transfer/tables.ts';
import { attach, ENGINES, openTestStore, type TestStore } from './engines.ts';
import { openSession, whenDerived } from './factories.ts';
import { startTestService, type TestService, testConfig } from './harness.ts';
import { type AnyRouteName, RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { copyWorld, makeOriginal, startWorld, type World } from './world.ts';

const PEPPER = { SECRET_PEPPER: 'shared by both' };

/** GET routes whose answers an export does not carry over, with the reason. */
const OTHERS: Partial<Record<AnyRouteName, string>> = {
  streamChanges: 'it never ends',
  getDeviceSignIn: 'short-lived sign-ins are left out',
};
/** Signed parts: another service has another key, and signs the audit log at another time. */
const SIGNED: Partial<Record<AnyRouteName, RegExp>> = {
  getAuditHead: /"(at|signature|publicKey)":"[^"]*"/g,
  showEvidence: /"signatures":\[[^\]]*\]/g,
};
const READS = ROUTE_NAMES.filter((name) => TABLE[name].method === 'GET' && !(name in OTHERS));

/** Numbers, spaces, line ends and separators that a parser would lose. */
const BODY =
  '{"events":[{"eventType":"user.message","payload":{"text":"Grüße \u2028 \u{1f9ea} \\u00fc",\n "n": 1.50, "big":12345678901234567890}},{"eventType":"notice"}]}';

const PAIRS = ENGINES.flatMap((from) => ENGINES.map((to): [Engine, Engine] => [from, to]));

describe.each(PAIRS)('an organization exported from %s and imported into %s', (engine, target) => {
  let folder: string;
  let file: string;
  let from: TestStore;
  let to: TestStore;
  let service: TestService;
  let original: World;
  let world: World;
  beforeAll(async () => {
    original = await makeOriginal(engine, PEPPER, async ({ service, ours }) => {
      for (const size of [1, 500]) {
        const body = BODY.replace('Grüße', 'Grüße '.repeat(size));
        const url = `/v1/sessions/${ours.sessionId}/events`;
        expect((await service.call('POST', url, { as: ours.live, body })).text).toContain('lastSequence');
      }
      await whenDerived(service, ours.member, ours.sessionId, 6);
      const gone = await openSession(service, ours.live);
      await service.call('DELETE', `/v1/organizations/me/sessions/${gone}`, { as: ours.owner });
    });
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'capture-transfer-'));
    file = join(folder, 'ours.export');
    to = await openTestStore(target);
    world = await copyWorld(original, { overrides: PEPPER, isShared: true });
    service = world.service;
    from = service.store;
  });
  afterEach(async () => {
    await service.close();
    await from.dispose();
    await to.dispose();
    rmSync(folder, { recursive: true });
  });

  async function run(store: TestStore, ...words: string[]): Promise<string> {
    const lines: string[] = [];
    const { dataDir: DATA_DIR, databaseUrl: DATABASE_URL } = store;
    const config = () => testConfig({ ...PEPPER, DATA_DIR, DATABASE_URL });
    await runCommand(words, config, (line) => void lines.push(line)).catch((error: Error) => {
      throw new Error([...lines, error.message].join('\n'));
    });
    return lines.join('\n');
  }

  /** Closes the store around the command, because an embedded store belongs to one process. */
  async function onTarget(...words: string[]): Promise<string> {
    await to.close();
    try {
      return await run(to, ...words);
    } finally {
      to = await attach(to.dataDir, to.databaseUrl);
    }
  }

  async function readAll(there: World): Promise<Record<string, string>> {
    const answers = READS.map(async (name) => {
      // A person without an organization belongs to neither, so a member calls these routes.
      const { auth } = TABLE[name];
      const as = RIGHT_CALLER[auth === 'user' ? 'member' : auth](there);
      const { status, text } = await request(there.service, name, RIGHT[name](there), as);
      return [name, `${status} ${SIGNED[name] === undefined ? text : text.replace(SIGNED[name], '')}`];
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  test('answers every reading route with the same bytes', async () => {
    await readAll(world);
    // The receipt of a deletion is written after its answer, and sessions are counted after theirs.
    const answers = async () => Object.values(await readAll(world)).join('\n');
    await expect.poll(answers).toContain('session.removed');
    await expect.poll(answers, { timeout: 20_000 }).not.toContain('"catchingUp"');
    await run(from, 'export', world.ours.organizationId, file);
    const given = await readAll(world);
    expect(given.listSessionEvents).toContain('"n": 1.50, "big":12345678901234567890');
    expect(JSON.parse(given.listAudit?.slice('200 '.length) ?? '').entries[0]).toMatchObject({
      actor: { kind: 'service', id: 'operator' },
      action: 'organization.exported',
      target: { kind: 'organization', id: world.ours.organizationId },
    });
    expect(await onTarget('import', file)).toContain('The store has what');
    expect(await onTarget('import', file, '--check')).toContain('The store has what');
    const other = await startTestService(target, PEPPER, to);
    try {
      await expect.poll(() => readAll({ ...world, service: other }), { timeout: 20_000 }).toEqual(given);
      const again = { as: world.ours.live, body: { events: [{ eventType: 'notice' }] } };
      const appended = await other.call('POST', `/v1/sessions/${world.ours.sessionId}/events`, again);
      expect(appended).toMatchObject({ status: 200, body: { firstSequence: 7 } });
    } finally {
      await other.close();
    }
  });

  test('has nothing of a session that was deleted and is not yet removed', async () => {
    const { ours } = world;
    await service.app.close();
    await sql`update sessions set deleted_at = 1 where session_id = ${ours.sessionId}`.execute(from.db);
    await run(from, 'export', 'ours', file);
    expect(zstdDecompressSync(readFileSync(file)).toString()).not.toContain(ours.sessionId);
    expect(await onTarget('import', file)).toContain('The store has what');
  });

  test('continues an interrupted import, and names every difference', async () => {
    await run(from, 'export', 'ours', file);
    await onTarget('import', file);
    const { sessionId, memberId } = world.ours;
    await sql`delete from appends where session_id = ${sessionId} and first_sequence > 2`.execute(to.db);
    await sql`delete from audit_entries where sequence > 3`.execute(to.db);
    await expect(onTarget('import', file, '--check')).rejects.toThrow(`appends ${sessionId} 3 is only in the file`);
    expect(await onTarget('import', file)).toContain('The store has what');
    await sql`update members set role = 'admin' where user_id = ${memberId}`.execute(to.db);
    await expect(onTarget('import', file, '--check')).rejects.toThrow(`members ${memberId} differs`);
    await expect(onTarget('import', file)).rejects.toThrow(`members ${memberId} differs`);
    await sql`update members set role = 'member' where user_id = ${memberId}`.execute(to.db);
    await sql`update appends set first_sequence = 3000, last_sequence = 3000, idempotency_key = null
      where session_id = ${sessionId} and first_sequence = 1`.execute(to.db);
    const checked = onTarget('import', file, '--check');
    await expect(checked).rejects.toThrow(/is only in the file[\s\S]*appends has 1 rows that are not among/);
  });
});

describe.each(ENGINES)('one person exported from %s', (engine) => {
  test("has the person's sessions and actions, and nothing of others", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'capture-transfer-'));
    const { service, ours } = await startWorld(engine, { isShared: true });
    const { store } = service;
    const { sessionId, closedSessionId, memberId, ownerId, environmentId } = ours;
    await sql`update sessions set user_id = ${memberId}, visibility = 'private' where session_id = ${sessionId}`.execute(
      store.db,
    );
    await sql`update environments set user_id = ${memberId} where environment_id = ${environmentId}`.execute(store.db);
    const events = `/v1/organizations/me/sessions/${closedSessionId}/events`;
    await service.call('GET', events, { as: ours.member });
    await service.app.close();
    const run = (...words: string[]) => {
      const { dataDir: DATA_DIR, databaseUrl: DATABASE_URL } = store;
      return runCommand(
        words,
        () => testConfig({ DATA_DIR, DATABASE_URL }),
        () => undefined,
      );
    };
    const read = (file: string) => {
      const lines = zstdDecompressSync(readFileSync(file)).toString().trim().split('\n');
      return lines.map((line) => JSON.parse(line));
    };
    const [file, again] = [join(folder, 'member'), join(folder, 'by-mail')];
    await run('export', 'ours', file, '--person', memberId);
    const noted =
      await sql`select actor_id, target_id from audit_entries where action = 'organization.exported'`.execute(store.db);
    expect(noted.rows).toEqual([{ actor_id: 'operator', target_id: memberId }]);
    const lines = read(file);
    const rows = (table: string) => lines.flatMap(({ part, row }) => (part === table ? [row] : []));
    expect(lines[0]).toMatchObject({ kind: 'session-capture export of a person', userId: memberId });
    expect(rows('members')).toMatchObject([{ user_id: memberId, email: 'ours-member@example.com' }]);
    expect(rows('users')).toMatchObject([{ user_id: memberId }]);
    expect(rows('sessions')).toMatchObject([{ session_id: sessionId }]);
    expect(JSON.stringify(rows('appends'))).toContain('ours one');
    expect(rows('environments')).toMatchObject([{ environment_id: environmentId }]);
    expect(rows('views').length).toBeGreaterThan(0);
    expect(rows('session_views')).toMatchObject([{ session_id: closedSessionId, user_id: memberId, kind: 'exported' }]);
    expect(rows('audit_entries').length).toBeGreaterThan(0);
    for (const row of rows('audit_entries')) expect(row).toMatchObject({ actor_kind: 'person', actor_id: memberId });
    const text = JSON.stringify(lines);
    for (const others of [ownerId, 'ours-owner@', 'theirs']) expect(text).not.toContain(others);
    expect(lines.some(({ part }) => part === 'secrets' || part === 'directory_tokens')).toBe(false);
    await run('export', ours.organizationId, again, '--person', 'Ours-Member@example.com');
    expect(read(again).slice(1, -1)).toEqual(lines.slice(1, -1));
    await expect(run('export', 'ours', join(folder, 'x'), '--person', 'nobody')).rejects.toThrow('no person nobody');
    await expect(run('export', 'theirs', join(folder, 'x'), '--person', memberId)).rejects.toThrow(
      'There is no person',
    );
    await expect(run('export', 'ours', join(folder, 'x'), '--person')).rejects.toThrow('--person USER');
    await store.close();
    await expect(run('import', file)).rejects.toThrow("contains one person's data");
    await store.dispose();
    rmSync(folder, { recursive: true });
  });
});

describe('an exported organization', () => {
  test('is refused if it is incomplete, was changed or belongs to another organization', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'capture-transfer-'));
    const { service } = await startWorld('sqlite', { isShared: true });
    const [from, to] = [service.store, await openTestStore('sqlite')];
    await to.close();
    const run = (store: TestStore, ...words: string[]) =>
      runCommand(
        words,
        () => testConfig({ DATA_DIR: store.dataDir }),
        () => undefined,
      );
    const file = join(folder, 'ours');
    await run(from, 'export', 'ours', file);
    await expect(run(from, 'export', 'ours', file)).rejects.toThrow('exists already');
    await expect(run(from, 'export', 'nobody', join(folder, 'x'))).rejects.toThrow('There is no organization nobody');
    const refuses = async (bytes: Uint8Array, problem: string) => {
      const path = join(folder, 'spoiled');
      writeFileSync(path, bytes);
      await expect(run(to, 'import', path)).rejects.toThrow(problem);
    };
    const text = zstdDecompressSync(readFileSync(file)).toString();
    await refuses(readFileSync(file).subarray(0, -20), 'cannot be read to its end');
    await refuses(zstdCompressSync(text.slice(0, text.lastIndexOf('{"manifest"'))), 'its manifest is missing');
    await refuses(zstdCompressSync(text.replace('ours one', 'ours two')), 'was changed after it was written');
    await refuses(zstdCompressSync(text.replace('ours-owner@', 'theirs-owner@')), 'was changed after it was written');
    await refuses(zstdCompressSync('{}\n'), 'is not an exported organization');
    await refuses(Buffer.from('{}\n'), 'cannot be read to its end');
    await service.close();
    await from.close();
    await run(to, 'import', file);
    await expect(run(from, 'import', file)).rejects.toThrow('Import into an empty service');
    await from.dispose();
    await to.dispose();
    rmSync(folder, { recursive: true });
  });

  test('is refused before anything is written if it has rows of others, and names its signer', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'capture-transfer-'));
    const { service, theirs } = await startWorld('sqlite', { isShared: true });
    const [from, to] = [service.store, await openTestStore('sqlite')];
    await to.close();
    const run = async (store: TestStore, ...words: string[]) => {
      const lines: string[] = [];
      await runCommand(
        words,
        () => testConfig({ DATA_DIR: store.dataDir }),
        (line) => void lines.push(line),
      );
      return lines.join('\n');
    };
    const file = join(folder, 'ours');
    const [, signer = ''] = /signed with the key (\S+)\./.exec(await run(from, 'export', 'ours', file)) ?? [];
    const { privateKey } = generateKeyPairSync('ed25519');
    const stranger = new AuditKey(privateKey);
    /** Writes the lines of the export after a change, with a right manifest under a key of one's own. */
    function forge(change: (lines: { part: string; row: Record<string, unknown> }[]) => void): string {
      const [head = '', ...rest] = zstdDecompressSync(readFileSync(file)).toString().trim().split('\n');
      const rows = rest.slice(0, -1).map((line) => JSON.parse(line));
      change(rows);
      const order = [...new Set(rows.map(({ part }) => part))];
      const lines = order.flatMap((part) => rows.filter((row) => row.part === part)).map((row) => JSON.stringify(row));
      const parts = new Parts();
      for (const line of lines) parts.add(JSON.parse(line).part, line);
      const manifest = { header: JSON.parse(head), parts: parts.end(), publicKey: stranger.publicKey };
      const end = JSON.stringify({ manifest, signature: stranger.signatureOf(manifest) });
      const path = join(folder, 'forged');
      writeFileSync(path, zstdCompressSync([head, ...lines, end, ''].join('\n')));
      return path;
    }
    const first = (rows: { part: string; row: Record<string, unknown> }[], part: string) => {
      const found = rows.find((row) => row.part === part);
      if (!found) throw new Error(`the export has no ${part}`);
      return structuredClone(found);
    };
    const elsewhere = { organization_id: theirs.organizationId };
    const FORGED: [string, string, (rows: { part: string; row: Record<string, unknown> }[]) => void][] = [
      [
        'organizations',
        'a row of organizations belongs to',
        (rows) => {
          const { part, row } = first(rows, 'organizations');
          rows.push({ part, row: { ...row, ...elsewhere, slug: 'else' } });
        },
      ],
      [
        'members',
        'a row of members belongs to',
        (rows) => {
          const { part, row } = first(rows, 'members');
          rows.push({ part, row: { ...row, ...elsewhere, user_id: 'usr_else' } });
        },
      ],
      [
        'an unknown member',
        'is not among its users',
        (rows) => {
          const { part, row } = first(rows, 'members');
          rows.push({ part, row: { ...row, status: 'active', user_id: 'usr_of_another', email_key: 'x@example.com' } });
        },
      ],
      [
        'a person of others',
        'is no active member',
        (rows) => {
          const { part, row } = first(rows, 'users');
          rows.push({ part, row: { ...row, user_id: 'usr_of_another', subject: 'else' } });
        },
      ],
      [
        'an owner of others',
        'its owner usr_of_another is no active member',
        (rows) => {
          for (const { part, row } of rows) if (part === 'organizations') row.owner_user_id = 'usr_of_another';
        },
      ],
      [
        'an append to a session of others',
        'names ses_of_another, which is not among its sessions',
        (rows) => {
          const { part, row } = first(rows, 'appends');
          rows.push({ part, row: { ...row, session_id: 'ses_of_another' } });
        },
      ],
      [
        'a share',
        'a row of shares belongs to',
        (rows) => {
          const { part, row } = first(rows, 'shares');
          rows.push({ part, row: { ...row, ...elsewhere, share_id: 'shr_else', token_hash: 'else' } });
        },
      ],
    ];
    for (const [, problem, change] of FORGED) {
      await expect(run(to, 'import', forge(change))).rejects.toThrow(problem);
    }
    const store = await attach(to.dataDir, undefined);
    expect(await store.db.selectFrom('organizations').selectAll().execute()).toEqual([]);
    expect(await store.db.selectFrom('users').selectAll().execute()).toEqual([]);
    await store.close();
    const resigned = forge(() => undefined);
    await expect(run(to, 'import', resigned, '--key', signer)).rejects.toThrow(`not with ${signer}`);
    expect(await run(to, 'import', resigned)).toContain(`signed with the key ${idOfKey(stranger.publicKey)}. Nobody`);
    expect(await run(to, 'import', file, '--check', '--key', signer)).toContain(`the key ${signer}, as expected`);
    await service.close();
    await from.dispose();
    await to.dispose();
    rmSync(folder, { recursive: true });
  });

  test('has each table, or the reason for leaving it out', () => {
    expect([...Object.keys(EXPORTED), ...Object.keys(NOT_EXPORTED)].sort()).toEqual([...MOVED].sort());
  });
});
