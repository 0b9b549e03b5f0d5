import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { type RunOptions, run } from '../test/program.ts';
import { startService } from '../test/service.ts';

async function prepare() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const login = (url: string, options: Partial<RunOptions> = {}) =>
    run(['login', '--secret-stdin', '--url', url], { home, input: 'sk_live_test', ...options });
  const stored = () => {
    const path = join(home, 'state/config.json');
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { url: string }).url : undefined;
  };
  return { home, service, login, stored };
}

/** A server in front of others. */
async function serve(answer: (path: string) => { status: number; body: string; type?: string }): Promise<string> {
  const server = createServer((request, response) => {
    const { status, body, type = 'application/json' } = answer(request.url ?? '');
    response.writeHead(status, { 'content-type': type, ...(status === 301 && { location: '/elsewhere' }) }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(['', '/', '/welcome', '/sessions/ses_1?event=3#top', '//', '/a/b/c/d/e/f/g/h/i/j'])(
  'the address of any page of the dashboard leads to the service: %j',
  async (page) => {
    const { service, login, stored } = await prepare();
    expect((await login(` ${service.url}${page} `)).exitCode).toBe(0);
    expect(stored()).toBe(service.url);
  },
);

test('a scheme may be left out', async () => {
  const { service, login, stored } = await prepare();
  expect((await login(service.url.replace('http://', ''))).exitCode).toBe(0);
  expect(stored()).toBe(service.url);
});

test('a service below a path is found there, even if something else answers above it', async () => {
  const { login, stored } = await prepare();
  const url = await serve((path) => {
    if (path === '/capture/health') return { status: 200, body: '{"status":"ok","service":"session-capture"}' };
    if (path === '/capture/v1/secret') {
      return { status: 200, body: '{"organizationId":"org_1","organizationName":"Acme","secretEnvironment":"live"}' };
    }
    return { status: path.startsWith('/capture/sessions') ? 301 : 200, body: '<h1>Intranet</h1>', type: 'text/html' };
  });
  expect((await login(`${url}/capture/sessions/ses_1`)).exitCode).toBe(0);
  expect(stored()).toBe(`${url}/capture`);
});

test.each([
  ['a page that is no service', 200, '<h1>Sign in</h1>', 'text/html'],
  ['another service with a health', 200, '{"status":"ok","service":"other"}', 'application/json'],
  ['a page that is not there', 404, 'no', 'text/plain'],
])('%s is not signed in to, and nothing is stored', async (_, status, body, type) => {
  const { login, stored } = await prepare();
  const url = await serve(() => ({ status, body, type }));
  const result = await login(`${url}/some/page`);
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toContain(`error: Something other than Session Capture answers at ${url}.\nhint: Paste`);
  expect(stored()).toBeUndefined();
});

test.each(['', '/welcome'])('an invented secret is refused at %j, and nothing is stored', async (page) => {
  const { service, login, stored } = await prepare();
  const result = await login(`${service.url}${page}`, { input: 'sk_live_made_up_nonsense' });
  expect([result.exitCode, stored()]).toEqual([4, undefined]);
  expect(result.stderr).toContain('does not accept the organization secret');
  expect(result.stderr).toContain('Nothing was stored.');
  expect(result.stderr).not.toContain('nonsense');
});

test('a refused secret of CAPTURE_SECRET is named, because another sign-in would not help', async () => {
  const { service, home } = await prepare();
  const variables = { CAPTURE_SECRET: 'sk_live_made_up_nonsense', CAPTURE_URL: service.url };
  for (const command of [['login'], ['import'], ['exec', '--', 'true']]) {
    const { exitCode, stderr } = await run(command, { home, variables });
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('CAPTURE_SECRET comes before the stored secret')]);
  }
  const { stderr } = await run(['login', '--secret-stdin'], {
    home,
    input: 'sk_live_nonsense',
    variables,
  });
  expect(stderr).toMatch(/hint: Check the secret that you gave.*Nothing was stored\./);
  expect(stderr).not.toContain('CAPTURE_SECRET');
});

test("a service that cannot name the secret's account does not count as having accepted it", async () => {
  const { login, stored } = await prepare();
  const url = await serve((path) =>
    path === '/health'
      ? { status: 200, body: '{"status":"ok","service":"session-capture"}' }
      : { status: 404, body: '{"error":"There is no such address.","code":"not_found"}' },
  );
  const result = await login(url);
  expect([result.exitCode, stored()]).toEqual([1, undefined]);
  expect(result.stderr).toMatch(/does not know a request of this version of capture\.\nhint: .*Nothing was stored\./);
});

test('https for a service that only speaks http is explained', async () => {
  const { service, login, stored } = await prepare();
  const result = await login(service.url.replace('http:', 'https:'));
  expect([result.exitCode, stored()]).toEqual([75, undefined]);
  expect(result.stderr).toMatch(
    /^error: The service at https:\S+ cannot be reached: it does not speak HTTPS; try http:/,
  );
  expect(result.stderr).not.toMatch(/OpenSSL|EPROTO|ssl/);
});

test('an invalid address is refused', async () => {
  const { login } = await prepare();
  for (const url of ['ftp://x', 'https://', 'a b']) expect((await login(url)).exitCode).toBe(2);
});

test('only its owner can read the secret', async () => {
  const { home, service, login } = await prepare();
  await login(service.url);
  expect(statSync(join(home, 'state/config.json')).mode & 0o777).toBe(0o600);
});

test('the address stays for the next sign-in after a sign-out', async () => {
  const { home, service, login, stored } = await prepare();
  await login(service.url);
  expect(await run(['logout'], { home })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Signed out\./),
  });
  expect(readFileSync(join(home, 'state/config.json'), 'utf8')).not.toContain('secret');
  expect((await run(['logout'], { home })).stdout).toMatch(/^You were not signed in\./);
  expect(await run(['login', '--secret-stdin'], { home, input: 'sk_live_test' })).toMatchObject({ exitCode: 0 });
  expect(stored()).toBe(service.url);
});

test('a sign-out removes an unreadable sign-in', async () => {
  const { home, stored } = await prepare();
  write(join(home, 'state/config.json'), '{"secret": "sk_l');
  expect((await run(['logout'], { home })).stdout).toMatch(/^Signed out\./);
  expect(stored()).toBeUndefined();
});

test('the next step is not printed if the installation script does it', async () => {
  const { service, login } = await prepare();
  expect((await login(service.url)).stdout).toMatch(/^Next: `capture init`/m);
  const installing = await login(service.url, { variables: { CAPTURE_SETUP: 'yes' } });
  expect(installing).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining('Next:') });
});
