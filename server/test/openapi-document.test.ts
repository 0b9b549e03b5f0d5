import { afterEach, expect, test } from 'vitest';
import { EXTENSIONS } from '../../contract/extensions.ts';
import { ROUTES } from '../../contract/routes.ts';
import { startTestService, type TestService } from './harness.ts';

let service: TestService;
afterEach(() => service.close());

const PATH = '/openapi.json';

test('the service describes each of its routes to anybody, below its own address', async () => {
  service = await startTestService('sqlite', { PUBLIC_URL: 'https://example.com/tools' });
  const { status, headers, body } = await service.call('GET', PATH);
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(body.servers[0].variables.publicUrl.default).toBe('https://example.com/tools');
  for (const [name, { method, path }] of Object.entries({ ...ROUTES, ...EXTENSIONS })) {
    expect(body.paths[path][method.toLowerCase()]).toMatchObject({ operationId: name });
  }
});

test('one address may ask for the description of the routes only so often', async () => {
  service = await startTestService('sqlite', { RATE_LIMIT_ADDRESS: 1 });
  const statuses = [];
  for (let turn = 0; turn < 2; turn++) statuses.push((await service.call('GET', PATH)).status);
  expect(statuses).toEqual([200, 429]);
});
