import { isAscii } from 'node:buffer';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../contract/client.ts';
import { openTestStore } from '../../server/test/engines.ts';
import { killLeftovers } from '../../test/process.ts';
import { startService, welcomeLinkOf } from '../../test/service.ts';
import { signIn, signUp } from '../demo/sign-in.ts';
import { ROOT } from './bundle.ts';
import { expectNewerNode } from './program.ts';
import { makeService } from './service.ts';

const folder = join(ROOT, 'artefacts/service-test');
const program = join(folder, 'main.cjs');

beforeAll(() => makeService(folder), 60_000);
afterAll(() => {
  killLeftovers();
  rmSync(folder, { recursive: true, force: true });
});

test('the built service supports the steps from the first account to an invitation by mail', async () => {
  const store = await openTestStore('sqlite');
  await store.close();
  const service = await startService(store.dataDir, {}, { program });
  const ada = { email: 'ada@example.com', password: 'a long enough password' };
  await signUp(await welcomeLinkOf(service), ada);
  const token = await signIn(service.url, ada);

  const client = createClient({ baseUrl: service.url, credential: () => token });
  await client.createOrganization({ body: { name: 'Acme' } });
  await client.inviteMember({ body: { email: 'grace@example.com', role: 'member' } });
  expect(readdirSync(join(store.dataDir, 'outbox'))).toEqual([expect.stringMatching(/\.eml$/)]);
  expect(await service.end('SIGTERM')).toBe(0);
  await store.dispose();
});

test('the built service reports an outdated Node in one sentence', () => expectNewerNode(program, 'the service'));

/** The names of the service's threads, without those of Node. */
const threadsOf = (pid: number) =>
  readdirSync(`/proc/${pid}/task`)
    .map((task) => readFileSync(`/proc/${pid}/task/${task}/comm`, 'utf8').trim())
    .filter((name) => ['writer', 'reader', 'indexer', 'scanner'].includes(name));

test.runIf(process.platform === 'linux')(
  'the idle built service runs only its writer thread, and still answers',
  async () => {
    const store = await openTestStore('sqlite');
    await store.close();
    const service = await startService(store.dataDir, {}, { program });
    const ask = () =>
      fetch(`${service.url}/v1/organizations/me`, { headers: { authorization: `Bearer cap_live_${'a'.repeat(43)}` } });
    // Send the requests concurrently, so that they need readers.
    await Promise.all(Array.from({ length: 20 }, ask));
    await expect.poll(() => threadsOf(service.pid), { timeout: 20_000 }).toEqual(['writer']);
    expect((await ask()).status).toBe(401);
    await service.end('SIGTERM');
    await store.dispose();
  },
);

test('the built service keeps its metrics library in a separate file', () => {
  const holdersOf = (text: string) =>
    readdirSync(folder).filter(
      (name) => name.endsWith('.cjs') && readFileSync(join(folder, name), 'utf8').includes(text),
    );
  expect(holdersOf('collectDefaultMetrics')).toHaveLength(1);
  expect(holdersOf('collectDefaultMetrics')).not.toContain('service.cjs');
});

test('the built service is pure ASCII, which V8 stores with one byte for each character', () => {
  const beyond = readdirSync(folder)
    .filter((name) => name.endsWith('.cjs'))
    .filter((name) => !isAscii(readFileSync(join(folder, name))));
  expect(beyond).toEqual([]);
});

test('the built service runs on PostgreSQL', async () => {
  const store = await openTestStore('postgres');
  const service = await startService(store.dataDir, { DATABASE_URL: String(store.databaseUrl) }, { program });
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
  await service.end('SIGTERM');
  await store.dispose();
});
