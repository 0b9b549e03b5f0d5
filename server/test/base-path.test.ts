import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXTENSIONS } from '../../contract/extensions.ts';
import type { Route } from '../../contract/route.ts';
import { ROUTES } from '../../contract/routes.ts';
import { runs } from '../../contract/test/runs.ts';
import { type AppOptions, createApp } from '../http/app.ts';
import { removeBasePath } from '../http/base-path.ts';
import { servePages } from '../http/pages.ts';
import { serveSecurityTxt } from '../http/security-txt.ts';
import { basePathOf } from '../public-url.ts';
import { startTestService, type TestService } from './harness.ts';
import { startWorld, type World } from './world.ts';

const PUBLIC_URL = 'https://example.com/tools/capture';

let plain: TestService;
let world: World;
let service: TestService;
let origin: string;
beforeAll(async () => {
  plain = await startTestService('sqlite');
  world = await startWorld('sqlite', { overrides: { PUBLIC_URL, SECURITY_CONTACT: 'mailto:security@example.com' } });
  ({ service } = world);
  origin = await service.app.listen({ port: 0 });
});
afterAll(() => Promise.all([plain?.close(), service?.close()]));

/** What the service gets from each kind of proxy for a request to the public address. */
const PROXIES = [
  { proxy: 'passes the path on', toService: (path: string) => `/tools/capture${path}` },
  { proxy: 'removes the path', toService: (path: string) => path },
];

const rows: Route[] = Object.values({ ...ROUTES, ...EXTENSIONS });

const DOWNLOADS_AND_PAGES = [
  '/install',
  '/install.ps1',
  '/install/SHA256SUMS',
  '/capture.tgz',
  '/openapi.json',
  '/',
  '/sessions/ses_1',
];

describe.each(PROXIES)('behind a proxy that $proxy', ({ toService }) => {
  test.each(rows.map(({ method, path }) => ({ method, path: path.replaceAll(/\{\w+\}/g, 'some') })))(
    '$method $path answers as it does without a path',
    async ({ method, path }) => {
      const [expected, answer] = [await plain.call(method, path), await service.call(method, toService(path))];
      expect([answer.status, answer.headers.allow]).toEqual([expected.status, expected.headers.allow]);
      // A route that is missing is answered 404 as well.
      expect(answer.text).not.toContain('There is no such address');
    },
  );

  test('a method that a route does not have is answered with those that it has', async () => {
    for (const method of ['PUT', 'OPTIONS']) {
      const answer = await service.call(method, toService('/v1/sessions/some/events'));
      expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
    }
  });

  test.each(DOWNLOADS_AND_PAGES)('%s is answered as without a path', async (path) => {
    const headers = { accept: 'text/html' };
    const [expected, answer] = [
      await plain.call('GET', path, { headers }),
      await service.call('GET', toService(path), { headers }),
    ];
    expect(answer.status).toBe(expected.status);
    expect(answer.headers['content-type']).toBe(expected.headers['content-type']);
  });

  test('every address that the service names is below its public address', async () => {
    const { owner, directoryToken, directoryUserId, closedSessionId } = world.ours;
    const ask = (method: string, path: string, options = {}) => service.call(method, toService(path), options);
    expect((await ask('GET', '/config')).body.apiUrl).toBe(PUBLIC_URL);
    expect((await ask('GET', '/.well-known/security.txt')).text).toContain(
      `Canonical: ${PUBLIC_URL}/.well-known/security.txt`,
    );
    const machine = { hostname: 'workbench', platform: 'linux', serviceCliVersion: '1.0.0' };
    const started = (await ask('POST', '/v1/device-sign-ins', { body: machine })).body;
    expect(started.verificationUri).toBe(`${PUBLIC_URL}/device`);
    const share = {
      audience: 'organization',
      level: 'figures',
      expiresAt: new Date(service.clock.now + 86_400_000).toISOString(),
    };
    const shared = await ask('POST', `/v1/organizations/me/sessions/${closedSessionId}/shares`, {
      as: owner,
      body: share,
    });
    expect(shared.body.url).toBe(`${PUBLIC_URL}/s/${shared.body.token}`);
    const directory = await ask('GET', '/v1/organizations/me/directory', { as: owner });
    expect(directory.body.baseUrl).toBe(`${PUBLIC_URL}/scim/v2`);
    const known = (await ask('GET', `/scim/v2/Users/${directoryUserId}`, { as: directoryToken })).body;
    expect(known.meta.location).toBe(`${PUBLIC_URL}/scim/v2/Users/${directoryUserId}`);
    const body = { schemas: [known.schemas[0]], userName: `cleo-${toService('').length}@example.com` };
    const made = await ask('POST', '/scim/v2/Users', { as: directoryToken, body });
    expect(made.headers.location).toBe(`${PUBLIC_URL}/scim/v2/Users/${made.body.id}`);
  });

  test('a change of a session arrives on the live stream', async () => {
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${world.ours.owner}` };
    const path = toService('/v1/organizations/me/live');
    const { status, body } = await fetch(origin + path, { headers, signal: stop.signal });
    expect(status).toBe(200);
    expect(new TextDecoder().decode((await body?.getReader().read())?.value)).not.toBe('');
    stop.abort();
  });
});

test('the path itself is an address of the service, and a longer name is not', async () => {
  const statusOf = async (path: string) => (await service.call('GET', path)).status;
  expect(await statusOf('/tools/capture/health')).toBe(200);
  for (const path of ['/tools/capturehealth', '/tools/health', '/tools/capture-2/health', '/tools/capture%2fhealth'])
    expect(await statusOf(path)).toBe(404);
  const headers = { accept: 'text/html' };
  for (const path of ['/tools/capture', '/tools/capture?plane=test', '/tools/capture/'])
    expect((await service.call('GET', path, { headers })).status).toBe(
      (await plain.call('GET', '/', { headers })).status,
    );
});

test('an address below the path loses exactly the path, and any other address stays as it is', () => {
  const parts = fc.array(fc.constantFrom('/tools', '/capture', '/a.b', '/v1'), { minLength: 1, maxLength: 3 });
  const text = fc.string({ unit: fc.constantFrom(...'/?ab.%-') });
  fc.assert(
    fc.property(parts, text, text, (names, rest, query) => {
      const path = names.join('');
      const address = `/${rest}`;
      expect(removeBasePath(path, path + address)).toBe(address);
      expect(removeBasePath(path, `${path}?${query}`)).toBe(`/?${query}`);
      expect(removeBasePath(path, `${path}x${address}`)).toBe(`${path}x${address}`);
      expect(removeBasePath('', address)).toBe(address);
    }),
    runs(200),
  );
});

test.each([
  ['https://example.com', ''],
  ['http://127.0.0.1:4400', ''],
  ['https://example.com/capture', '/capture'],
  ['https://example.com/tools/capture', '/tools/capture'],
])('the path of %s is "%s"', (address, path) => {
  expect(basePathOf(address)).toBe(path);
});

/** No request reaches the app of these options. */
const UNUSED = { log: pino({ level: 'silent' }), handlers: {}, corsOrigins: [], trustProxy: [] };

test.each(['/v1', '/v1/capture', '/scim', '/config', '/health', '/s', '/.well-known'])(
  'a public address with the path %s is refused, because the service has addresses of its own there',
  async (path) => {
    const publicUrl = `https://example.com${path}`;
    const create = async () => {
      const app = await createApp({ ...UNUSED, publicUrl } as unknown as AppOptions);
      serveSecurityTxt(app, { contact: undefined, publicUrl, now: Date.now });
      await servePages(app, { publicUrl, origins: async () => [] });
    };
    await expect(create()).rejects.toThrow(`PUBLIC_URL must not have a path that begins with /${path.split('/')[1]}: `);
  },
);
