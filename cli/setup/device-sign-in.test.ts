import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Fetch } from '../../contract/client.ts';
import { createTenant, type Tenant } from '../../server/test/factories.ts';
import { startTestService, type TestService } from '../../server/test/harness.ts';
import { fetchPlainly } from '../http.ts';
import { runProgram } from '../program.ts';
import { makeFolder } from '../test/folder.ts';
import { createContext, type RunOptions } from '../test/program.ts';

let service: TestService;
let url: string;
let ours: Tenant;
beforeAll(async () => {
  service = await startTestService('sqlite');
  url = await service.app.listen({ port: 0 });
  ours = await createTenant(service, 'harbour');
});
afterAll(() => service.close());

/** Begins `capture login`, which polls every 30 ms, and returns the code that it shows. */
async function begin(args: string[] = [], options: Partial<RunOptions> = {}) {
  const home = makeFolder();
  const { context, written } = createContext({ home, ...options });
  context.sleep = (ms, signal) => setTimeout(ms / 100, undefined, { signal });
  const ended = runProgram(context, ['login', '--url', url, ...args]);
  await expect.poll(() => written.stderr, { timeout: 60_000 }).toContain('Waiting');
  const stored = () => {
    const path = join(home, 'state/config.json');
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
  };
  return { context, written, ended, stored, userCode: /code ([^ ]+) there/.exec(written.stderr)?.[1] ?? '' };
}

const decide = (userCode: string, decision: string) =>
  service.call('POST', '/v1/organizations/me/device-sign-in', { as: ours.admin, body: { userCode, decision } });

describe('a sign-in through the browser', () => {
  test('prints its address and code before anything else, without a terminal too', async () => {
    const { written, ended, stored, userCode } = await begin();
    expect(written.stderr).toContain(`\n    http://capture.test/device?code=${userCode}\n`);
    await decide(userCode, 'approve');
    expect(await ended).toBe(0);
    expect(written.stdout).toMatch(/^Signed in to harbour \(live plane\)\.\nNext: `capture init`/);
    const { secret } = stored();
    expect((await service.call('GET', '/v1/secret', { as: secret })).status).toBe(200);
    expect(written.stdout + written.stderr).not.toContain(secret);
  });

  test('tells programs who signed in, and still tells people where to confirm', async () => {
    const { written, ended, userCode } = await begin(['--json']);
    await decide(userCode, 'approve');
    expect(await ended).toBe(0);
    expect(JSON.parse(written.stdout)).toMatchObject({ organizationName: 'harbour', plane: 'live' });
  });

  test('ends with a no after a refusal, and stores nothing', async () => {
    const { written, ended, stored, userCode } = await begin();
    await decide(userCode, 'deny');
    expect([await ended, stored()]).toEqual([2, undefined]);
    expect(written.stderr).toContain('The sign-in was refused in the dashboard. Nothing was stored.\n');
  });

  test('continues after failed requests', async () => {
    let lost = 0;
    const losing: Fetch = async (address, init) => {
      if (address.endsWith('/secret') && lost++ === 0) throw new TypeError('fetch failed');
      return fetchPlainly(address, init);
    };
    const { ended, userCode, stored } = await begin([], { context: { fetch: losing } });
    await decide(userCode, 'approve');
    expect(await ended).toBe(0);
    expect(stored()).toHaveProperty('secret');
    expect(lost).toBeGreaterThan(1);
  });

  test('ends if nobody confirms it in time', async () => {
    const { context, written, ended } = await begin();
    const now = context.now;
    context.now = () => now() + 10 * 60_000;
    expect(await ended).toBe(75);
    expect(written.stderr).toMatch(/error: The code has expired\. Nothing was stored\.\nhint: Start again/);
  });

  test('can be interrupted', async () => {
    const stop = new AbortController();
    const { ended, stored } = await begin([], { context: { stop: stop.signal } });
    stop.abort();
    expect([await ended, stored()]).toEqual([2, undefined]);
  });
});

/** A program in place of a browser, which stores its arguments. */
function browser(variables: Record<string, string> = {}): Partial<RunOptions> & { opened(): string | undefined } {
  const folder = makeFolder();
  const program = join(folder, 'xdg-open');
  writeFileSync(program, `#!/bin/sh\nprintf %s "$1" > "${folder}/opened"\n`);
  chmodSync(program, 0o755);
  const opened = () => (existsSync(join(folder, 'opened')) ? readFileSync(join(folder, 'opened'), 'utf8') : undefined);
  return { variables: { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':0', ...variables }, opened };
}

test.each([
  ['opens the page if there is a browser', [], {}, true],
  ['opens none with --no-browser', ['--no-browser'], {}, false],
  ['opens none over SSH, because nobody would see it', [], { SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, false],
])('%s', async (_, args, variables, isOpened) => {
  const stop = new AbortController();
  const { opened, ...options } = browser(variables);
  const { ended, userCode } = await begin(args, { ...options, context: { stop: stop.signal } });
  stop.abort();
  await ended;
  expect(opened()).toBe(isOpened ? `http://capture.test/device?code=${userCode}` : undefined);
});
