import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { issueSecret } from './factories.ts';
import { playScenarios } from './scenarios.ts';
import { DIRECTORY } from './tables/directory.ts';
import { startWorld, type World } from './world.ts';

playScenarios('directory', DIRECTORY);

/** Requests that directories send, from their documentation and their users; the ids are our own. */
const FIXTURES = JSON.parse(readFileSync(new URL('fixtures/directories.json', import.meta.url), 'utf8')) as {
  directory: string;
  steps: { name: string; method: string; url: string; body?: object; status: number; answer?: object }[];
}[];

describe.each(ENGINES)('a directory on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  const scim = (method: string, path: string, body?: object) =>
    world.service.call(method, `/scim/v2${path}`, { as: world.ours.directoryToken, ...(body && { body }) });
  const idOf = async (email: string): Promise<string> => {
    const filter = encodeURIComponent(`userName eq "${email}"`);
    return (await scim('GET', `/Users?filter=${filter}`)).body.Resources[0].id;
  };

  test.each(FIXTURES)('accepts the requests of $directory', async ({ steps }) => {
    let id = '';
    for (const { name, method, url, body, status, answer = {} } of steps) {
      const reply = await scim(method, url.replace('{id}', id), body);
      expect(reply, `${name}: ${reply.text}`).toMatchObject({ status });
      if (reply.text !== '') expect(reply.body, name).toMatchObject(answer);
      id = reply.body?.id ?? id;
    }
  });

  test('that deactivates a member ends their tokens and revokes their secrets at once', async () => {
    const { service, ours } = world;
    await service.call('PATCH', `/v1/organizations/me/members/${ours.memberId}`, {
      as: ours.owner,
      body: { role: 'admin' },
    });
    const secret = await issueSecret(service, ours.member, 'live');
    expect((await service.call('GET', '/v1/secret', { as: secret })).status).toBe(200);
    const id = await idOf('ours-member@example.com');
    const operations = { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] };
    expect((await scim('PATCH', `/Users/${id}`, operations)).body.active).toBe(false);
    expect((await service.call('GET', '/v1/organizations/me', { as: ours.member })).status).toBe(403);
    expect((await service.call('GET', '/v1/secret', { as: secret })).status).toBe(401);
    const { entries } = (await service.call('GET', '/v1/organizations/me/audit', { as: ours.owner })).body;
    expect(entries.slice(0, 2)).toMatchObject([
      { action: 'secret.revoked', actor: { kind: 'directory' } },
      { action: 'member.removed', actor: { kind: 'directory' }, target: { id: ours.memberId } },
    ]);
  });

  test('that activates a member again invites them, and they keep their identity', async () => {
    const { service, ours } = world;
    const id = await idOf('ours-member@example.com');
    await scim('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', path: 'active', value: false }] });
    await scim('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', path: 'active', value: true }] });
    expect((await service.call('GET', '/v1/me', { as: ours.member })).body).toMatchObject({
      userId: ours.memberId,
      role: 'member',
    });
  });

  test('that renames a member changes neither membership nor role', async () => {
    const { service, ours } = world;
    const id = await idOf('ours-admin@example.com');
    const Operations = [{ op: 'replace', value: { userName: 'married@example.com' } }];
    expect((await scim('PATCH', `/Users/${id}`, { Operations })).body).toMatchObject({ active: true });
    expect((await service.call('GET', '/v1/me', { as: ours.admin })).body.role).toBe('admin');
    const replaced = await scim('PUT', `/Users/${id}`, { userName: 'married@example.com', active: false });
    expect(replaced.body.active).toBe(false);
    expect((await service.call('GET', '/v1/organizations/me', { as: ours.admin })).status).toBe(403);
  });

  test('that sends two changes of a user at once loses neither', async () => {
    const users = await Promise.all(
      Array.from({ length: 5 }, async (_, i) => {
        const created = await scim('POST', '/Users', { userName: `new-${i}@example.com` });
        return created.body.id as string;
      }),
    );
    for (const [i, id] of users.entries()) {
      const rename = [{ op: 'replace', value: { userName: `renamed-${i}@example.com` } }];
      const end = [{ op: 'replace', path: 'active', value: false }];
      await Promise.all([rename, end].map((Operations) => scim('PATCH', `/Users/${id}`, { Operations })));
      expect((await scim('GET', `/Users/${id}`)).body).toMatchObject({
        userName: `renamed-${i}@example.com`,
        active: false,
      });
    }
    const members = await world.service.call('GET', '/v1/organizations/me/members', { as: world.ours.owner });
    expect(members.text).not.toMatch(/new-\d|renamed-\d/);
  });

  test('that gives an invitation the e-mail of another organization’s member does not learn of that membership', async () => {
    const { body: user } = await scim('POST', '/Users', { userName: 'new@example.com' });
    const change = async (userName: string) => {
      const { status, body } = await scim('PUT', `/Users/${user.id}`, { userName, active: true });
      return { status, userName: body.userName, active: body.active };
    };
    for (const userName of ['theirs-member@example.com', 'of-nobody@example.com'])
      expect(await change(userName)).toEqual({ status: 200, userName, active: true });
  });

  test('shows a member whom an admin removed as inactive', async () => {
    const { service, ours } = world;
    const id = await idOf('ours-member@example.com');
    await service.call('DELETE', `/v1/organizations/me/members/${ours.memberId}`, { as: ours.owner });
    expect((await scim('GET', `/Users/${id}`)).body.active).toBe(false);
  });

  test('forgets a person who deletes their account', async () => {
    const { service, ours } = world;
    const id = await idOf('ours-member@example.com');
    await service.call('DELETE', '/v1/me', { as: ours.member });
    expect((await scim('GET', `/Users/${id}`)).status).toBe(404);
  });

  test('cannot reach a prototype through a path', async () => {
    const path = `/Users/${world.ours.directoryUserId}`;
    for (const wrong of [
      '__proto__.polluted',
      'constructor.prototype.polluted',
      'name.__proto__',
      'emails[__proto__ eq "a"].value',
    ]) {
      await scim('PATCH', path, { Operations: [{ op: 'add', path: wrong, value: 'a@example.com' }] });
    }
    await world.service.call('PATCH', `/scim/v2${path}`, {
      as: world.ours.directoryToken,
      body: '{"Operations":[{"op":"add","value":{"__proto__":{"polluted":"yes"}}}]}',
    });
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });

  test('cannot keep the service busy with requests that are slow to parse', async () => {
    const path = `/Users/${world.ours.directoryUserId}`;
    const endless = `value eq "${'\n'.repeat(200)}`;
    const emails = Array.from({ length: 3_000 }, (_, i) => ({ value: `${i}@example.com` }));
    const byPath = Object.fromEntries(emails.map(({ value }) => [`emails[value eq "${value}"].type`, 'work']));
    const odd = { path: 'emails[value sw "a"].type', op: 'add', value: 'work' };
    for (const [operations, status] of [
      [[{ op: 'add', path: `emails[${endless}].value`, value: 'a@example.com' }], 400],
      [[{ op: 'add', value: byPath }], 400],
      [[{ op: 'add', path: 'emails', value: emails }], 400],
      [[{ op: 'add', path: 'emails', value: { value: { toString: 1 } } }, odd], 400],
      [[{ op: 'add', value: { [`emails[value eq "${'a'.repeat(400)}"].value`]: 'a@example.com' } }], 400],
    ] as const) {
      expect(await scim('PATCH', path, { Operations: operations })).toMatchObject({ status });
    }
    expect((await scim('GET', `/Users?filter=${encodeURIComponent(`userName ${endless}`)}`)).status).toBe(400);
  });

  test("gets answers in SCIM's format, even from unknown addresses", async () => {
    const unknown = await scim('GET', '/Groups');
    expect(unknown).toMatchObject({ status: 404, body: { status: '404' } });
    expect(unknown.headers['content-type']).toBe('application/scim+json');
    const wrong = await scim('PATCH', '/Users', {});
    expect(wrong).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } });
  });
});
