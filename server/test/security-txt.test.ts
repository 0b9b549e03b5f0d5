import { afterEach, expect, test } from 'vitest';
import { startTestService, type TestService } from './harness.ts';

const PATH = '/.well-known/security.txt';
let service: TestService;
afterEach(() => service.close());

test("security.txt has the operator's contact, and expires in half a year", async () => {
  service = await startTestService('sqlite', { SECURITY_CONTACT: 'mailto:security@example.com' });
  const reply = await service.call('GET', PATH);
  expect(reply).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' } });
  expect(reply.text).toBe(`Contact: mailto:security@example.com
Expires: 2027-05-20T09:00:00.000Z
Canonical: http://capture.test/.well-known/security.txt
`);
});

test('security.txt does not exist without a contact, for browsers either', async () => {
  service = await startTestService('sqlite');
  expect((await service.call('GET', PATH, { headers: { accept: 'text/html' } })).status).toBe(404);
});
