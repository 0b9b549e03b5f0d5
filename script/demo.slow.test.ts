import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { createClient } from '../contract/client.ts';
import { freePort } from '../server/public-url.ts';
import { type Running, startProcess } from '../test/process.ts';
import { type Credentials, signIn } from './demo/sign-in.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'capture-demo-'));
let running: Running | undefined;

afterAll(async () => {
  // Send SIGTERM instead of SIGKILL, so that the demo stops its service.
  await running?.end('SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
});

test('the demo has sessions, keeps them after a restart, and prints no log lines that its reader need not know', async () => {
  const first = await runDemo();
  expect(first.sessions.length).toBeGreaterThanOrEqual(6);
  expect(first.sessions.every(({ eventCount }) => eventCount > 0)).toBe(true);
  expect(first.owners, 'the person who signs in owns the sessions').toEqual([first.userId]);
  expect(first.exitCode).toBe(0);
  expect(first.output).toContain('Ctrl-C stops it');
  expect(first.output).not.toMatch(/ info /);

  const again = await runDemo();
  expect(again.credentials).toEqual(first.credentials);
  expect(again.sessions).toEqual(first.sessions);
}, 120_000);

/** Starts the demo, signs in, lists its sessions and stops it. */
async function runDemo() {
  const port = await freePort('127.0.0.1');
  const env = { ...process.env, PORT: String(port), DATA_DIR: dataDir };
  running = startProcess([process.execPath, 'script/demo.ts'], { cwd: root, env });
  await running.until(/Sign in with/);
  const url = `http://127.0.0.1:${port}`;
  const credentials = JSON.parse(readFileSync(join(dataDir, 'demo', 'demo.json'), 'utf8')) as Credentials;
  const token = await signIn(url, credentials);
  const client = createClient({ baseUrl: url, credential: () => token });
  const { body } = await client.listSessions({});
  const sessionIds = body.sessions.map(({ sessionId }) => sessionId).join();
  const { summaries } = (await client.listSessionSummaries({ query: { sessionIds } })).body;
  const owners = [...new Set(summaries.map(({ userId }) => userId))];
  const { userId } = (await client.getPerson({})).body;
  const exitCode = await running.end('SIGINT');
  return { credentials, sessions: body.sessions, owners, userId, exitCode, output: running.output() };
}
