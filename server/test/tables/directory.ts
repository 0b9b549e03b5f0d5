import { expect } from 'vitest';
import type { Ask } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';

/** Creates an active user in the directory, which also invites them. */
const created =
  (name: string, more: Ask = {}) =>
  async ({ service, ours }: World): Promise<Ask> => {
    const body = { userName: `${name}@example.com`, externalId: name };
    const reply = await service.call('POST', '/scim/v2/Users', { as: ours.directoryToken, body });
    return { params: { directoryUserId: reply.body.id }, ...more };
  };

/** The directory's user for our owner. */
const owner =
  (more: Ask = {}) =>
  async ({ service, ours }: World): Promise<Ask> => {
    const url = `/scim/v2/Users?filter=${encodeURIComponent('userName eq "OURS-owner@example.com"')}`;
    const { Resources } = (await service.call('GET', url, { as: ours.directoryToken })).body;
    return { params: { directoryUserId: Resources[0].id }, ...more };
  };

const operations = (...all: object[]): Ask => ({ body: { Operations: all } });
const deactivation = operations({ op: 'replace', value: { active: false } });

const membersOf = async ({ service, ours }: World): Promise<string[]> =>
  (await service.call('GET', '/v1/organizations/me/members', { as: ours.owner })).body.users.map(
    ({ email, status }: { email: string; status: string }) => `${email} ${status}`,
  );

const WITHOUT_TOKEN: readonly Scenario[] = (['issueDirectoryToken', 'revokeDirectoryToken'] as const).map((route) => ({
  route,
  name: 'an admin is refused',
  as: ({ ours }) => ours.admin,
  status: 403,
  code: 'insufficient_role',
  says: /^Only an owner /,
}));

const UNKNOWN: readonly Scenario[] = (
  ['getScimUser', 'replaceScimUser', 'changeScimUser', 'deleteScimUser'] as const
).flatMap((route) => [
  { route, name: 'an unknown user', ask: { params: { directoryUserId: 'dir_none' } }, status: 404 },
  {
    route,
    name: 'a user of another organization',
    ask: ({ theirs }: World) => ({ params: { directoryUserId: theirs.directoryUserId } }),
    status: 404,
  },
]);

const WRONG: [name: string, body: object][] = [
  ['a missing user name', { userName: ' ' }],
  ['a user name that is no e-mail, without another e-mail', { userName: 'jdoe' }],
  ['an invalid e-mail address', { userName: 'jdoe', emails: [{ value: 'jdoe' }] }],
  ['a list instead of a text', { userName: 'a@example.com', externalId: ['1'] }],
  ['an active flag that is no boolean', { userName: 'a@example.com', active: 'maybe' }],
  ['a name with a line break', { userName: 'a@example.com', displayName: 'a\nb' }],
  ['a name of 257 characters', { userName: 'a@example.com', displayName: 'a'.repeat(257) }],
  ['21 e-mails', { userName: 'a@example.com', emails: Array(21).fill({ value: 'a@example.com' }) }],
];

export const DIRECTORY: readonly Scenario[] = [
  {
    route: 'getDirectory',
    name: 'it shows who issued the token, and when it expires',
    status: 200,
    body: ({ ours }) => ({
      baseUrl: 'http://capture.test/scim/v2',
      token: { createdBy: ours.ownerId, lastFour: ours.directoryToken.slice(-4) },
    }),
    without: ({ ours }) => [ours.directoryToken],
  },
  ...WITHOUT_TOKEN,
  {
    route: 'getScimConfiguration',
    name: 'it lists the supported features',
    status: 200,
    body: () => ({ patch: { supported: true } }),
  },
  {
    route: 'listScimSchemas',
    name: 'it lists the stored attributes',
    status: 200,
    body: () => ({ totalResults: 1, Resources: [{ id: 'urn:ietf:params:scim:schemas:core:2.0:User' }] }),
  },
  {
    route: 'listScimResourceTypes',
    name: 'it lists users',
    status: 200,
    body: () => ({ Resources: [{ endpoint: '/Users' }] }),
  },
  {
    route: 'listScimUsers',
    name: "it lists the directory's users and all members",
    status: 200,
    body: () => ({ startIndex: 1, totalResults: 5, itemsPerPage: 5 }),
    after({ ours }, { body }) {
      const shown = body.Resources.map((user: { userName: string; active: boolean }) => [user.userName, user.active]);
      expect(Object.fromEntries(shown)).toEqual({
        'ours-owner@example.com': true,
        'ours-admin@example.com': true,
        'ours-member@example.com': true,
        'ours-invited@example.com': true,
        'ours-directory@example.com': false,
      });
      expect(body.Resources.map(({ id }: { id: string }) => id)).toContain(ours.directoryUserId);
    },
  },
  {
    route: 'listScimUsers',
    name: 'a page of the list',
    ask: { query: { startIndex: 2, count: 2 } },
    status: 200,
    body: () => ({ startIndex: 2, totalResults: 5, itemsPerPage: 2 }),
  },
  {
    route: 'listScimUsers',
    name: 'a start below 1 counts as 1, and a negative count as 0',
    ask: { query: { startIndex: 0, count: -1 } },
    status: 200,
    body: () => ({ startIndex: 1, totalResults: 5, itemsPerPage: 0, Resources: [] }),
  },
  ...['userName eq "OURS-Member@example.com"', 'emails.value eq "ours-member@example.com"'].map(
    (filter): Scenario => ({
      route: 'listScimUsers',
      name: filter,
      ask: { query: { filter } },
      status: 200,
      body: () => ({ totalResults: 1, Resources: [{ userName: 'ours-member@example.com', active: true }] }),
    }),
  ),
  {
    route: 'listScimUsers',
    name: 'a name that exists only in another organization finds nobody',
    ask: { query: { filter: 'userName eq "theirs-member@example.com"' } },
    status: 200,
    body: () => ({ totalResults: 0, Resources: [] }),
  },
  ...['userName', 'userName eq', 'userName sw "a"', 'title eq "a"', 'userName eq "a" or id eq "b"', 'id eq true'].map(
    (filter): Scenario => ({
      route: 'listScimUsers',
      name: filter,
      ask: { query: { filter } },
      status: 400,
      after: (_world, { body }) => expect(body.scimType).toBe('invalidFilter'),
    }),
  ),
  {
    route: 'createScimUser',
    name: 'an active user is invited by mail',
    ask: { body: { userName: 'Jane', emails: [{ value: 'Jane.Doe@example.com', primary: true }], title: 'forgotten' } },
    status: 201,
    body: () => ({ userName: 'Jane', active: true }),
    async after(world, { body, headers }) {
      expect(headers.location).toBe(body.meta.location);
      expect(body).not.toHaveProperty('title');
      expect(await membersOf(world)).toContain('Jane.Doe@example.com invited');
      expect(world.service.identity.invitations.at(-1)).toMatchObject({ email: 'Jane.Doe@example.com' });
    },
  },
  {
    route: 'createScimUser',
    name: 'an invited user becomes a member with their first request',
    ask: { body: { userName: 'first-request@example.com' } },
    status: 201,
    async after(world) {
      const as = await world.service.identity.token({ subject: 'first', email: 'first-request@example.com' });
      expect((await world.service.call('GET', '/v1/me', { as })).body.role).toBe('member');
      expect(await membersOf(world)).toContain('first-request@example.com active');
    },
  },
  {
    route: 'createScimUser',
    name: 'a failed mail does not fail the request',
    identityBroken: true,
    ask: { body: { userName: 'unmailed@example.com' } },
    status: 201,
    body: () => ({ active: true }),
  },
  {
    route: 'createScimUser',
    name: 'an inactive user is not invited',
    ask: { body: { userName: 'later@example.com', active: 'False' } },
    status: 201,
    body: () => ({ active: false }),
    after: async (world) => expect(JSON.stringify(await membersOf(world))).not.toContain('later@'),
  },
  {
    route: 'createScimUser',
    name: 'a user name that is already taken',
    ask: { body: { userName: 'OURS-directory@example.com' } },
    status: 409,
    after: (_world, { body }) => expect(body.scimType).toBe('uniqueness'),
  },
  {
    route: 'createScimUser',
    name: 'a member of another organization gets the same answer as an unknown person',
    ask: { body: { userName: 'theirs-member@example.com' } },
    status: 201,
    async after(world, { body }) {
      const { service, theirs } = world;
      expect(body).toEqual(expect.objectContaining({ userName: 'theirs-member@example.com', active: true }));
      expect(await membersOf(world)).toContain('theirs-member@example.com invited');
      const me = await service.call('GET', '/v1/me', { as: theirs.member });
      expect(me.body.organization.organizationId).toBe(theirs.organizationId);
    },
  },
  ...WRONG.map(([name, body]): Scenario => ({ route: 'createScimUser', name, ask: { body }, status: 400 })),
  ...UNKNOWN,
  {
    route: 'getScimUser',
    name: 'a user of the directory',
    status: 200,
    body: ({ ours }) => ({ id: ours.directoryUserId, meta: { resourceType: 'User' } }),
  },
  {
    route: 'replaceScimUser',
    name: 'a user who becomes active is invited, and attributes that are left out are removed',
    ask: created('replaced', { body: { userName: 'replaced@example.com', active: true } }),
    status: 200,
    body: () => ({ userName: 'replaced@example.com', active: true }),
    after: (_world, { body }) => expect(body).not.toHaveProperty('externalId'),
  },
  {
    route: 'replaceScimUser',
    name: 'a user stays inactive if the request has no active flag',
    ask: { body: { userName: 'ours-directory@example.com' } },
    status: 200,
    body: () => ({ active: false }),
  },
  { route: 'replaceScimUser', name: 'a missing user name', ask: { body: { active: true } }, status: 400 },
  {
    route: 'replaceScimUser',
    name: 'the last owner cannot be deactivated',
    ask: owner({ body: { userName: 'ours-owner@example.com', active: false } }),
    status: 409,
    after: async (world) => expect(await membersOf(world)).toContain('ours-owner@example.com active'),
  },
  {
    route: 'changeScimUser',
    name: 'an invited person whose e-mail changes is invited again',
    ask: created('before', operations({ op: 'Replace', path: 'userName', value: 'after@example.com' })),
    status: 200,
    body: () => ({ userName: 'after@example.com', active: true }),
    async after(world) {
      const members = JSON.stringify(await membersOf(world));
      expect(members).toContain('after@example.com invited');
      expect(members).not.toContain('before@');
    },
  },
  {
    route: 'changeScimUser',
    name: 'deactivating an invited user withdraws the invitation',
    ask: created('withdrawn', deactivation),
    status: 200,
    body: () => ({ active: false }),
    after: async (world) => expect(JSON.stringify(await membersOf(world))).not.toContain('withdrawn@'),
  },
  {
    route: 'changeScimUser',
    name: 'the last owner cannot be deactivated',
    ask: owner(deactivation),
    status: 409,
    async after(world, { body }) {
      expect(body.detail).toMatch(/^An organization needs an owner/);
      expect(await membersOf(world)).toContain('ours-owner@example.com active');
    },
  },
  {
    route: 'changeScimUser',
    name: 'a user name that is already taken',
    ask: operations({ op: 'replace', path: 'userName', value: 'ours-member@example.com' }),
    status: 409,
  },
  ...[
    { op: 'move', path: 'userName', value: 'x' },
    { op: 'replace', path: 'userName[', value: 'x' },
    { op: 'replace', value: 'x' },
    { op: 'remove', path: 'userName' },
    { op: 'replace', path: 'emails[type].value', value: 'x@example.com' },
    { op: 'replace', path: 'emails[type ne "work"].value', value: 'x@example.com' },
  ].map(
    (operation): Scenario => ({
      route: 'changeScimUser',
      name: JSON.stringify(operation),
      ask: operations(operation),
      status: 400,
    }),
  ),
  {
    route: 'deleteScimUser',
    name: 'deleting a user withdraws their invitation',
    ask: created('deleted'),
    status: 204,
    async after(world, _reply, { params }) {
      const { service, ours } = world;
      expect(
        (await service.call('GET', `/scim/v2/Users/${params?.directoryUserId}`, { as: ours.directoryToken })).status,
      ).toBe(404);
      expect(JSON.stringify(await membersOf(world))).not.toContain('deleted@');
    },
  },
  { route: 'deleteScimUser', name: 'the last owner cannot be deleted', ask: owner(), status: 409 },
  {
    route: 'issueDirectoryToken',
    name: 'a new token replaces the earlier one at once',
    as: ({ ours }) => ours.owner,
    status: 201,
    async after({ service, ours }, { body }) {
      const url = '/scim/v2/Users?count=1';
      expect((await service.call('GET', url, { as: ours.directoryToken })).status).toBe(401);
      expect((await service.call('GET', url, { as: body.value })).status).toBe(200);
    },
  },
  {
    route: 'revokeDirectoryToken',
    name: "the token stops working at once, and the directory's members stay",
    as: ({ ours }) => ours.owner,
    status: 200,
    async after(world, { body }) {
      expect(body).not.toHaveProperty('token');
      expect(await membersOf(world)).toContain('ours-member@example.com active');
    },
  },
];
