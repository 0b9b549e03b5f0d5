import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStore, type Store } from '../store/open.ts';
import { createTenant, openSession, registerMachine, type Tenant } from './factories.ts';
import { serve, type TestService } from './harness.ts';
import { expectProblem } from './shape.ts';

const MIB = 1024 * 1024;

/** Mounts a disk of some megabytes, which needs root. */
function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'capture-disk-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return folder;
}

/** Fills a disk to the last page. @returns a function that frees the space again */
function fill(disk: string): () => void {
  const names: string[] = [];
  for (let size = 4 * MIB; size >= 4096; size /= 2) {
    for (let part = 0; part < 20; part++) {
      const name = join(disk, `ballast-${size}-${part}`);
      try {
        writeFileSync(name, Buffer.alloc(size, 1));
        names.push(name);
      } catch {
        rmSync(name, { force: true });
        break;
      }
    }
  }
  return () => {
    for (const name of names) rmSync(name, { force: true });
  };
}

test('a full disk is named in the answer, and sessions can be read and deleted, also after a start on it', async (context) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return context.skip('mounting a small disk takes root');
  const dataDir = join(disk, 'data');
  mkdirSync(dataDir);
  const reserve = join(dataDir, 'reserve');
  const said: boolean[] = [];
  let store: Store;
  let service: TestService | undefined;
  let tenant: Tenant;

  async function start(): Promise<TestService> {
    store = await openStore({
      dataDir,
      onError: () => undefined,
      space: {
        sizes: { bytes: 12 * MIB, lowBytes: 2 * MIB, afterMs: 1 },
        onChange: (isFull) => void said.push(isFull),
      },
    });
    const place = {
      dataDir,
      databaseUrl: undefined,
      bus: undefined,
      busUrl: undefined,
      dispose: async () => undefined,
    };
    const started = await serve({ ...store, ...place }, { isShared: true, ...(service && { earlier: service }) });
    return started;
  }
  async function stop(running: TestService) {
    await running.close();
    await store.close();
  }
  const append = (running: TestService, sessionId: string, text = 'x') =>
    running.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: tenant.live,
      body: { events: [{ eventType: 'user.message', payload: { text } }] },
    });
  const path = (sessionId: string) => `/v1/organizations/me/sessions/${sessionId}`;

  service = await start();
  tenant = await createTenant(service);
  const machine = await registerMachine(service, tenant.live);
  const ids = [];
  for (let count = 0; count < 6; count++) ids.push(await openSession(service, tenant.live, machine));
  const [first = '', second = '', third = '', fourth = ''] = ids;
  for (const id of ids) expect((await append(service, id)).status).toBe(200);
  await expect.poll(() => existsSync(reserve)).toBe(true);

  let makeRoom = fill(disk);
  await expect
    .poll(async () => (await append(service as TestService, first, 'y'.repeat(200_000))).status, { timeout: 20_000 })
    .toBe(503);
  const refused = await append(service, first);
  expectProblem(refused, 503, 'service_unavailable');
  expect(refused.body.error).toMatch(/^The disk of this service is full/);
  expect(said.at(-1)).toBe(true);
  expect(existsSync(reserve)).toBe(false);
  const asked = { as: tenant.member };
  expect((await service.call('GET', `${path(first)}/events`, asked)).status).toBe(200);
  expect((await service.call('GET', `${path(first)}/evidence`, asked)).status).toBe(200);
  expect((await service.call('DELETE', path(second), { as: tenant.owner })).status).toBe(200);
  expect((await service.call('GET', path(second), asked)).status).toBe(404);
  makeRoom();
  await expect.poll(() => said.at(-1), { timeout: 20_000 }).toBe(false);
  expect((await append(service, first)).status).toBe(200);
  expect(existsSync(reserve)).toBe(true);

  await stop(service);
  makeRoom = fill(disk);
  said.length = 0;
  service = await start();
  expect([said, existsSync(reserve)]).toEqual([[true], false]);
  expect((await service.call('GET', `${path(first)}/events`, asked)).status).toBe(200);
  expectProblem(await append(service, third), 503, 'service_unavailable');
  expect((await service.call('DELETE', path(fourth), { as: tenant.owner })).status).toBe(200);
  await stop(service);
  service = await start();
  expect((await service.call('GET', `${path(fourth)}`, asked)).status).toBe(404);
  makeRoom();
  await expect.poll(() => said.at(-1), { timeout: 20_000 }).toBe(false);
  expect((await append(service, third)).status).toBe(200);
  await stop(service);
  expect(readdirSync(disk)).toEqual(['data']);
}, 120_000);
