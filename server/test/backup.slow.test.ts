import { generateKeyPairSync } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AuditKey } from '../audit/heads.ts';
import { idOfKey } from '../audit/signers.ts';
import { sha256Of, signManifest } from '../backup/manifest.ts';
import { runCommand } from '../commands.ts';
import type { Config } from '../config.ts';
import { attach, openTestStore, type TestStore } from './engines.ts';
import { event } from './factories.ts';
import { startTestService, type TestService, testConfig } from './harness.ts';
import { startWorld, type World } from './world.ts';

describe('a backup of the embedded store', () => {
  let folder: string;
  let file: string;
  let store: TestStore;
  let service: TestService;
  let world: World;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'capture-backup-'));
    file = join(folder, 'monday.sqlite');
    world = await startWorld('sqlite', { isShared: true });
    service = world.service;
    store = service.store;
  });
  afterEach(async () => {
    await service.close();
    await store.dispose();
    rmSync(folder, { recursive: true });
  });

  async function run(words: string[], overrides: Partial<Config> = {}): Promise<string[]> {
    const lines: string[] = [];
    const config = () => testConfig({ DATA_DIR: store.dataDir, ...overrides });
    await runCommand(words, config, (line) => void lines.push(line)).catch((error: Error) => {
      throw new Error([...lines, error.message].join('\n'));
    });
    return lines;
  }

  const target = () => join(folder, 'restored');
  const append = async (count: number) =>
    service.call('POST', `/v1/sessions/${world.ours.sessionId}/events`, {
      as: world.ours.live,
      body: { events: [event(`load ${count}`)] },
    });
  const sequencesIn = (path: string) => {
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database
      .prepare('select first_sequence, last_sequence from appends where session_id = ? order by 1')
      .all(world.ours.sessionId);
    database.close();
    return rows.flatMap(({ first_sequence, last_sequence }) =>
      Array.from(
        { length: Number(last_sequence) - Number(first_sequence) + 1 },
        (_, at) => Number(first_sequence) + at,
      ),
    );
  };

  test('has every event that was acknowledged before its start, while other events arrive', async () => {
    let acknowledged = 0;
    let isDone = false;
    const load = Promise.all(
      [1, 2, 3, 4].map(async () => {
        while (!isDone) acknowledged = Math.max(acknowledged, (await append(acknowledged)).body.lastSequence);
      }),
    );
    await expect.poll(() => acknowledged).toBeGreaterThan(20);
    const before = acknowledged;
    await run(['backup', file]);
    const after = acknowledged;
    isDone = true;
    await load;
    expect(after).toBeGreaterThan(before);
    await run(['restore', file], { DATA_DIR: target() });
    const sequences = sequencesIn(join(target(), 'session-capture.sqlite'));
    expect(sequences.length).toBeGreaterThanOrEqual(before);
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    expect(await run(['restore', file, '--check'])).toContainEqual(expect.stringContaining('Nothing is wrong'));
  });

  test('restores a service that answers people and machines as before', async () => {
    const pages = ['', '/members', '/secrets', '/environments', '/agents', '/sessions', '/audit'];
    const urls = pages.map((page) => `/v1/organizations/me${page}`);
    const read = ({ call }: TestService) =>
      Promise.all(urls.map(async (url) => (await call('GET', url, { as: world.ours.owner })).text));
    const given = await read(service);
    await run(['backup', file]);
    await run(['restore', file], { DATA_DIR: target() });
    await service.close();
    await store.close();
    rmSync(store.dataDir, { recursive: true });
    store = await attach(target(), undefined);
    service = await startTestService('sqlite', {}, store);
    expect(await read(service)).toEqual(given);
    expect((await service.call('GET', '/v1/secret', { as: world.ours.live })).status).toBe(200);
  });

  test('has a description that lists the parts that it lacks, and only its owner may read the files', async () => {
    await run(['backup', file]);
    const manifest = JSON.parse(readFileSync(`${file}.json`, 'utf8'));
    expect(manifest).toMatchObject({
      kind: 'session-capture backup',
      schema: ['0001-schema'],
      counts: { organizations: 2, events: 4 },
      auditHeads: [{ organizationId: expect.any(String) }, { organizationId: expect.any(String) }],
      lacks: expect.arrayContaining([expect.stringContaining('audit-key.pem')]),
    });
    expect(readdirSync(folder).sort()).toEqual(['monday.sqlite', 'monday.sqlite.json']);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  test('overwrites no other file, and does not restore over a store', async () => {
    await run(['backup', file]);
    await expect(run(['backup', file])).rejects.toThrow('exists already. Name another file');
    await expect(run(['restore', file])).rejects.toThrow('Set DATA_DIR to an empty folder');
    await expect(run(['backup', join(folder, 'other')], { DATA_DIR: target() })).rejects.toThrow('holds no store');
  });

  test('refuses PostgreSQL and names its own programs', async () => {
    const elsewhere = { DATABASE_URL: 'postgres://nowhere/capture' };
    await expect(run(['backup', file], elsewhere)).rejects.toThrow('pg_dump backs up PostgreSQL');
    await expect(run(['restore', file], elsewhere)).rejects.toThrow('pg_restore restores PostgreSQL');
  });

  describe('with damage', () => {
    beforeEach(() => run(['backup', file]));

    const refuses = async (problem: string, overrides: Partial<Config> = {}) => {
      await expect(run(['restore', file, '--check'], overrides)).rejects.toThrow(problem);
    };
    const restoreFails = async (problem: string) => {
      await expect(run(['restore', file], { DATA_DIR: target() })).rejects.toThrow(problem);
      expect(readdirSync(target())).toEqual([]);
    };

    test('to one bit is refused', async () => {
      const bytes = readFileSync(file);
      bytes[bytes.length - 5_000] = (bytes.at(-5_000) ?? 0) ^ 1;
      writeFileSync(file, bytes);
      await refuses('does not have the SHA-256');
      await restoreFails('does not have the SHA-256');
    });

    test('at its end is refused', async () => {
      writeFileSync(file, readFileSync(file).subarray(0, -4096));
      await refuses('bytes; its manifest says');
      await restoreFails('bytes; its manifest says');
    });

    test('to file and manifest is refused', async () => {
      const manifest = readFileSync(`${file}.json`, 'utf8');
      writeFileSync(`${file}.json`, manifest.replace('"events": 4', '"events": 5'));
      await refuses('the signature does not fit');
      await restoreFails('the signature does not fit');
      rmSync(`${file}.json`);
      await refuses('copy it next to');
    });

    test('or with a foreign signature is refused', async () => {
      const [away, theirs] = [join(folder, 'away'), await openTestStore('sqlite')];
      copyFileSync(file, away);
      copyFileSync(`${file}.json`, `${away}.json`);
      await run(['backup', join(folder, 'theirs')], { DATA_DIR: theirs.dataDir });
      await refuses('the manifest is signed with the key', { DATA_DIR: theirs.dataDir });
      // A folder with a key, and without a store.
      mkdirSync(target());
      copyFileSync(join(theirs.dataDir, 'audit-key.pem'), join(target(), 'audit-key.pem'));
      const restored = run(['restore', file], { DATA_DIR: target() });
      await expect(restored).rejects.toThrow(
        /is signed with the key \S+, not with \S+\. If you trust its signer, give --key/,
      );
      expect(readdirSync(target())).toEqual(['audit-key.pem']);
      const signer = idOfKey(JSON.parse(readFileSync(`${file}.json`, 'utf8')).publicKey);
      const lines = await run(['restore', file, '--key', signer], { DATA_DIR: target() });
      expect(lines[0]).toContain(`the key ${signer}, as expected`);
      await theirs.dispose();
    });

    test.each([
      [
        'a trigger',
        'create trigger later after insert on members begin delete from audit_entries; end',
        'trigger later',
      ],
      ['a view', 'create view people as select * from members', 'view people'],
      ['another table', 'create table notes (text text)', 'table notes'],
      ['another index', 'create index notes on members (role)', 'index notes'],
    ])('in the form of %s is refused, whoever signed it', async (_name, statement, problem) => {
      const database = new DatabaseSync(file);
      database.exec(statement);
      database.close();
      const {
        publicKey: _,
        signature: __,
        kind: ___,
        holds: ____,
        lacks: _____,
        ...described
      } = JSON.parse(readFileSync(`${file}.json`, 'utf8'));
      const stranger = new AuditKey(generateKeyPairSync('ed25519').privateKey);
      const bytes = statSync(file).size;
      const manifest = signManifest({ ...described, bytes, sha256: await sha256Of(file) }, stranger);
      writeFileSync(`${file}.json`, JSON.stringify(manifest));
      await refuses(`has the ${problem}, which the service did not create`);
      await restoreFails(`has the ${problem}, which the service did not create`);
    });
  });

  test.each([
    ['an event that is missing', 'delete from appends where session_id = ?', /does not have as many events/],
    [
      'a changed audit log',
      "update audit_entries set actor_id = 'usr_2' where sequence = 1 and ? <> ''",
      /entry 1: edited/,
    ],
  ])('finds %s in the backup of a damaged store', async (_name, statement, problem) => {
    // The running service may write, for example how far a session is derived.
    const database = new DatabaseSync(join(store.dataDir, 'session-capture.sqlite'), { timeout: 10_000 });
    database.prepare(statement).run(world.ours.sessionId);
    database.close();
    await run(['backup', file]);
    await expect(run(['restore', file, '--check'])).rejects.toThrow(problem);
    expect(existsSync(file)).toBe(true);
  });
});
