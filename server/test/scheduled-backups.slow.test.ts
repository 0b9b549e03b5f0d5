import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { killLeftovers } from '../../test/process.ts';
import { BUILT_SERVICE, startService } from '../../test/service.ts';
import { AuditKey } from '../audit/heads.ts';
import { backUp } from '../backup/backup.ts';
import { ScheduledBackups } from '../backup/scheduled.ts';
import { createMetrics } from '../operations/metrics.ts';
import { openTestStore, type TestStore } from './engines.ts';

const HOUR_MS = 3_600_000;
const KEY = new AuditKey(generateKeyPairSync('ed25519').privateKey);

describe('backups of a running service', () => {
  let folder: string;
  let store: TestStore;
  let clock: { now: number };
  beforeEach(async () => {
    folder = join(mkdtempSync(join(tmpdir(), 'capture-backups-')), 'backups');
    store = await openTestStore('sqlite');
    clock = { now: Date.now() };
  });
  afterEach(async () => {
    killLeftovers();
    await store.dispose();
    rmSync(join(folder, '..'), { recursive: true });
  });

  const schedule = (dataDir = store.dataDir) =>
    new ScheduledBackups({
      folder,
      everyMs: 24 * HOUR_MS,
      keep: 2,
      program: BUILT_SERVICE,
      variables: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, DATA_DIR: dataDir },
      onDone: () => undefined,
      onError: () => undefined,
      now: () => clock.now,
    });
  const figures = async (backups: ScheduledBackups) => {
    const metrics = createMetrics();
    metrics.watchBackups(backups, () => clock.now);
    return (await metrics.read()).text;
  };

  test('are made when they are due, and only the newest stay', async () => {
    const backups = schedule();
    expect(await figures(backups)).toContain('capture_backup_age_seconds +Inf');
    await backups.backUpIfDue();
    const [first] = readdirSync(folder);
    await backups.backUpIfDue();
    expect(readdirSync(folder)).toHaveLength(2);
    writeFileSync(join(folder, 'session-capture-2026-11-21T09-00-00.000Z.sqlite.part'), '');
    writeFileSync(join(folder, 'notes.txt'), '');
    for (const _ of [1, 2]) {
      // The manifest has the system's time, so each backup is due two days later.
      clock.now += 48 * HOUR_MS;
      await backups.backUpIfDue();
    }
    expect(readdirSync(folder)).toHaveLength(5);
    expect(existsSync(join(folder, 'notes.txt'))).toBe(true);
    expect(existsSync(join(folder, String(first)))).toBe(false);
  });

  test('leave alone what somebody else keeps in the folder, whatever its name is', async () => {
    const backups = schedule();
    await backups.backUpIfDue();
    const [made = ''] = readdirSync(folder);
    const others = ['session-capture-monday.sqlite', 'session-capture-before-upgrade.sqlite'];
    for (const name of others) {
      await backUp({ dataDir: store.dataDir, file: join(folder, name), key: KEY, now: () => clock.now });
    }
    // A copy of a backup of the schedule under a name of one's own, and a backup by hand under a name of the schedule's form.
    const copy = 'session-capture-wednesday.sqlite';
    for (const end of ['', '.json']) copyFileSync(join(folder, `${made}${end}`), join(folder, `${copy}${end}`));
    const alike = 'session-capture-2001-01-01T00-00-00.000Z.sqlite';
    await backUp({ dataDir: store.dataDir, file: join(folder, alike), key: KEY, now: () => clock.now });
    for (let day = 0; day < 3; day++) {
      clock.now += 48 * HOUR_MS;
      await backups.backUpIfDue();
    }
    const left = readdirSync(folder);
    for (const name of [...others, copy, alike])
      for (const end of ['', '.json']) expect(left).toContain(`${name}${end}`);
    expect(left).toHaveLength(2 * (4 + 2));
    expect(existsSync(join(folder, made))).toBe(false);
  });

  test('are made although a wrong clock has left backups of the future, and the new one stays', async () => {
    const backups = schedule();
    mkdirSync(folder);
    for (const days of [400, 500, 600]) {
      const at = Date.now() + days * 24 * HOUR_MS;
      const name = `session-capture-${new Date(at).toISOString().replaceAll(':', '-')}.sqlite`;
      await backUp({ dataDir: store.dataDir, file: join(folder, name), key: KEY, isScheduled: true, now: () => at });
    }
    await backups.backUpIfDue();
    const now = new Date(clock.now).toISOString().replaceAll(':', '-');
    expect(readdirSync(folder)).toContain(`session-capture-${now}.sqlite`);
    expect(readdirSync(folder)).toHaveLength(2 * 2);
  });

  test('report the age and size of the last one', async () => {
    const backups = schedule();
    await backups.backUpIfDue();
    const last = await backups.last();
    clock.now = Number(last?.at) + 2 * HOUR_MS;
    const text = await figures(backups);
    expect(text).toContain('capture_backup_age_seconds 7200\n');
    expect(text).toContain(`capture_backup_bytes ${last?.bytes}\n`);
    expect(text).toContain('capture_backup_interval_seconds 86400\n');
  });

  test('report the reason of a failure', async () => {
    await expect(schedule(join(folder, 'nothing')).backUpIfDue()).rejects.toThrow('holds no store');
  });

  test('are configured with BACKUP_DIR', async () => {
    await store.close();
    const service = await startService(store.dataDir, { BACKUP_DIR: folder });
    await expect.poll(() => existsSync(folder) && readdirSync(folder).length, { timeout: 20_000 }).toBe(2);
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
