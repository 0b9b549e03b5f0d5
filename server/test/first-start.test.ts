import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { killLeftovers } from '../../test/process.ts';
import { startService } from '../../test/service.ts';
import { runCommand } from '../commands.ts';
import type { Config } from '../config.ts';
import { assertFolderIsNew, assertStoreIsNew } from '../first-start.ts';
import { attach, ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant } from './factories.ts';
import { serve, testConfig } from './harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'capture-first-'));
afterAll(() => {
  killLeftovers();
  rmSync(folder, { recursive: true });
});

const HEAD = (organizationId: string, hash = 'a'.repeat(64)) =>
  JSON.stringify({ organizationId, sequence: 7, hash, at: '2026-11-21T09:00:00.000Z', signature: 'c2ln' });

describe('the embedded store', () => {
  let places = 0;
  /** An empty folder, and the configuration of a service that uses it. */
  function place() {
    const root = join(folder, String(places++));
    const config = testConfig({ DATA_DIR: join(root, 'data'), BACKUP_DIR: join(root, 'backups') });
    for (const path of [config.DATA_DIR, config.BACKUP_DIR ?? '']) mkdirSync(path, { recursive: true });
    return config;
  }
  const storeOf = ({ DATA_DIR }: Config) => join(DATA_DIR, 'session-capture.sqlite');

  const SIGNS: [string, (config: Config) => void][] = [
    ['signed heads', ({ DATA_DIR }) => writeFileSync(join(DATA_DIR, 'audit-heads.jsonl'), `\n${HEAD('org_1')}\n`)],
    ['a key', ({ DATA_DIR }) => writeFileSync(join(DATA_DIR, 'audit-key.pem'), 'key')],
    ['a backup', ({ BACKUP_DIR }) => writeFileSync(join(String(BACKUP_DIR), 'session-capture-1.sqlite'), 'copy')],
  ];

  test.each(SIGNS)('is not created beside %s of an earlier one', (_name, leave) => {
    const config = place();
    leave(config);
    expect(() => assertFolderIsNew(config)).toThrow(/is missing, but there was an earlier store.*`begin anew`/);
    writeFileSync(storeOf(config), '');
    expect(() => assertFolderIsNew(config)).toThrow(/is empty, but there was an earlier store/);
  });

  test('is created in an empty folder, and beside the heads of organizations that were all deleted', () => {
    const config = place();
    assertFolderIsNew(config);
    writeFileSync(
      join(config.DATA_DIR, 'audit-heads.jsonl'),
      `\n${HEAD('org_1')}\n\n${HEAD('org_1', 'f'.repeat(64))}\n`,
    );
    assertFolderIsNew(config);
  });

  test('starts with one command, starts again, and is missed when its file is lost', async () => {
    const { DATA_DIR: dataDir } = place();
    for (let start = 0; start < 2; start++) expect(await (await startService(dataDir)).end('SIGTERM')).toBe(0);
    const store = storeOf({ DATA_DIR: dataDir } as Config);
    copyFileSync(store, `${store}.kept`);
    for (const lose of [() => truncateSync(store), () => rmSync(store)]) {
      for (const log of ['-wal', '-shm']) rmSync(`${store}${log}`, { force: true });
      lose();
      await expect(startService(dataDir)).rejects.toThrow(/there was an earlier store/);
    }
    expect(existsSync(store)).toBe(false);
    copyFileSync(`${store}.kept`, store);
    expect(await (await startService(dataDir)).end('SIGTERM')).toBe(0);
  });
});

describe.each(ENGINES)('a store without organizations on %s', (engine) => {
  let store: TestStore;
  let config: Config;
  beforeAll(async () => {
    store = await openTestStore(engine);
    config = testConfig({ DATA_DIR: store.dataDir, DATABASE_URL: store.databaseUrl });
    writeFileSync(join(store.dataDir, 'audit-heads.jsonl'), `\n${HEAD('org_1')}\n`);
  });
  afterAll(() => store.dispose());

  test('is refused beside the heads of organizations, until an operator begins anew', async () => {
    await expect(assertStoreIsNew(store.db, config)).rejects.toThrow(/no organization, but there was an earlier store/);
    if (engine === 'sqlite') await store.close();
    await runCommand(
      ['begin', 'anew'],
      () => config,
      () => undefined,
    );
    if (engine === 'sqlite') store = await attach(store.dataDir, undefined);
    await assertStoreIsNew(store.db, config);
  });

  test('is accepted beside these heads if it has organizations, for instance after a restore', async () => {
    const restored = await openTestStore(engine);
    const service = await serve(restored, { isShared: true });
    await createTenant(service);
    await service.close();
    await assertStoreIsNew(restored.db, config);
    await restored.dispose();
  });
});
