import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BUILT_SERVICE } from '../../test/service.ts';
import { readManifest } from '../backup/manifest.ts';
import { comparedWith, restoreBackup } from '../backup/restore.ts';
import type { TestStore } from './engines.ts';
import { event } from './factories.ts';
import type { TestService } from './harness.ts';
import { startWorld, type World } from './world.ts';

let folder: string;
let store: TestStore;
let service: TestService;
let world: World;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'capture-backup-'));
  world = await startWorld('sqlite', { isShared: true });
  service = world.service;
  store = service.store;
  // Large enough that a copy takes several steps.
  for (let count = 0; count < 30; count++) {
    const value = String(count % 10).repeat(1_000_000);
    await store.db
      .insertInto('settings')
      .values({ name: `filler ${count}`, value })
      .execute();
  }
});
afterEach(async () => {
  await service.close();
  await store.dispose();
  rmSync(folder, { recursive: true });
});

function startBackup(file: string): ChildProcess {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATA_DIR: store.dataDir };
  return spawn(process.execPath, [BUILT_SERVICE, 'backup', file], { env, stdio: 'ignore' });
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

const append = async (text: string): Promise<number> => {
  const { body } = await service.call('POST', `/v1/sessions/${world.ours.sessionId}/events`, {
    as: world.ours.live,
    body: { events: [event(text)] },
  });
  return body.lastSequence;
};

function countEvents(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database
    .prepare('select sum(last_sequence - first_sequence + 1) as count from appends where session_id = ?')
    .get(world.ours.sessionId);
  database.close();
  return Number(row?.count);
}

test('a killed backup leaves no file under its name, and the next backup has every event', async () => {
  const file = join(folder, 'nightly.sqlite');
  const places = [0, 1_000_000, 15_000_000];
  for (const [round, place] of places.entries()) {
    const process = startBackup(file);
    const ended = once(process, 'exit');
    let acknowledged = 0;
    while (sizeOf(`${file}.part`) <= place && process.exitCode === null) acknowledged = await append(`round ${round}`);
    process.kill('SIGKILL');
    await ended;
    expect(acknowledged).toBeGreaterThan(0);
    // A late kill may come after the end of the backup.
    if (existsSync(file)) expect(await comparedWith(file, await readManifest(file))).toEqual([]);
    else expect(existsSync(`${file}.part`)).toBe(true);
    if (round < places.length - 1) for (const name of readdirSync(folder)) rmSync(join(folder, name));
  }
  rmSync(file, { force: true });
  const before = await append('before the backup');
  expect(await once(startBackup(file), 'exit')).toEqual([0, null]);
  expect(readdirSync(folder).sort()).toEqual(['nightly.sqlite', 'nightly.sqlite.json']);
  const dataDir = join(folder, 'restored');
  await restoreBackup(file, dataDir);
  expect(countEvents(join(dataDir, 'session-capture.sqlite'))).toBe(before);
  expect(countEvents(join(store.dataDir, 'session-capture.sqlite'))).toBe(before);
});
