import { expect } from 'vitest';
import { signIn } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';
import { invite, MEMBERS, named, statusOf } from './invitations.ts';

/** Adds an active member; `token` is theirs. */
async function join(world: World, name: string, role = 'member') {
  const userId = await invite(world, `${name}@example.com`, role);
  const token = await signIn(world.service, name);
  await world.service.call('GET', '/v1/me', { as: token });
  return { userId, token };
}

export const MEMBERSHIPS: readonly Scenario[] = [
  {
    route: 'deleteAccount',
    name: 'a person without an organization deletes their account',
    as: ({ service }) => signIn(service, 'passing-by'),
    status: 200,
  },
  {
    route: 'deleteAccount',
    name: 'a member deletes their account and belongs to no organization afterwards',
    as: async (world) => (await join(world, 'going')).token,
    status: 200,
    async after({ service, ours }, { body }) {
      const list = await service.call('GET', '/v1/organizations/me/members', { as: ours.owner });
      expect(list.text).not.toContain(body.userId);
    },
  },
  {
    route: 'deleteAccount',
    name: 'the last owner may not delete their account',
    as: ({ ours }) => ours.owner,
    status: 409,
    code: 'last_owner',
    says: /delete the organization/,
  },
  {
    route: 'deleteAccount',
    name: 'an unknown value for secrets',
    ask: { query: { secrets: 'sell' } },
    status: 400,
    says: /^\/secrets /,
  },
  {
    route: 'deleteOrganization',
    name: "a name that is not the organization's",
    as: ({ ours }) => ours.owner,
    ask: { body: { name: 'theirs' } },
    status: 400,
    code: 'validation_failed',
    says: /^\/name /,
  },
  {
    route: 'deleteOrganization',
    name: 'an admin is refused',
    as: ({ ours }) => ours.admin,
    ask: { body: { name: 'ours' } },
    status: 403,
    code: 'insufficient_role',
  },
  {
    route: 'deleteOrganization',
    name: 'an owner deletes their own organization and no other',
    async as({ service }) {
      const owner = await signIn(service, 'short-lived');
      await service.call('POST', '/v1/organizations', { as: owner, body: { name: 'Short-lived' } });
      return owner;
    },
    ask: { body: { name: 'Short-lived' } },
    status: 200,
    async after({ service, ours }) {
      expect((await service.call('GET', '/v1/organizations/me', { as: ours.owner })).status).toBe(200);
    },
  },
  {
    route: 'removeMember',
    name: 'an unknown value for secrets',
    ask: { query: { secrets: 'sell' } },
    status: 400,
    says: /^\/secrets /,
  },
  {
    route: 'changeRole',
    name: 'an admin makes a member an admin, with effect at once',
    ask: async (world) => named((await join(world, 'rising')).userId, { role: 'admin' }),
    status: 200,
    body: () => ({ user: { email: 'rising@example.com', role: 'admin', status: 'active' } }),
    async after({ service }) {
      const as = await signIn(service, 'rising');
      expect((await service.call('POST', '/v1/organizations/me/secrets', { as })).status).toBe(201);
    },
  },
  {
    route: 'changeRole',
    name: 'the role of an invitation',
    ask: async (world) => named(await invite(world, 'as-admin@example.com'), { role: 'admin' }),
    status: 200,
    body: () => ({ user: { role: 'admin', status: 'invited' } }),
  },
  {
    route: 'changeRole',
    name: 'an admin may not name an owner',
    ask: ({ ours }) => named(ours.memberId, { role: 'owner' }),
    status: 403,
    code: 'insufficient_role',
  },
  {
    route: 'changeRole',
    name: 'an admin may not demote an owner',
    ask: ({ ours }) => named(ours.ownerId, { role: 'member' }),
    status: 403,
    code: 'insufficient_role',
  },
  {
    route: 'changeRole',
    name: 'a new owner may demote the first, and the organization then shows the remaining owner',
    as: ({ ours }) => ours.owner,
    ask: async (world) => named((await join(world, 'second-owner')).userId, { role: 'owner' }),
    status: 200,
    async after({ service, ours }, _reply, ask) {
      const second = await signIn(service, 'second-owner');
      const body = { role: 'admin' };
      expect(await service.call('PATCH', `${MEMBERS}/${ours.ownerId}`, { as: second, body })).toMatchObject({
        status: 200,
      });
      const organization = (await service.call('GET', '/v1/organizations/me', { as: ours.member })).body;
      expect(organization.ownerUserId).toBe(ask.params?.userId);
      await service.call('POST', '/v1/organizations/me/owner', { as: second, body: { userId: ours.ownerId } });
    },
  },
  {
    route: 'changeRole',
    name: 'the last owner may not be demoted',
    as: ({ ours }) => ours.owner,
    ask: ({ ours }) => named(ours.ownerId, { role: 'admin' }),
    status: 409,
    code: 'last_owner',
  },
  {
    route: 'changeRole',
    name: 'an unknown member',
    ask: named('usr_none', { role: 'member' }),
    status: 404,
    code: 'not_found',
  },
  ...[undefined, 'king', 7].map(
    (role): Scenario => ({
      route: 'changeRole',
      name: `the role ${role}`,
      ask: ({ ours }) => named(ours.memberId, { role }),
      status: 400,
      code: 'validation_failed',
      says: /^\/role /,
    }),
  ),
  {
    route: 'removeMember',
    name: 'a removed member is locked out at once and may found an organization',
    ask: async (world) => named((await join(world, 'removed')).userId),
    status: 200,
    body: () => ({ user: { email: 'removed@example.com', status: 'active' } }),
    async after(world, _reply, ask) {
      const { service } = world;
      expect(await statusOf(world, ask.params?.userId ?? '')).toBeUndefined();
      const as = await signIn(service, 'removed');
      const refused = await service.call('GET', '/v1/organizations/me', { as });
      expect(refused).toMatchObject({ status: 403, body: { code: 'no_organization' } });
      expect((await service.call('POST', '/v1/organizations', { as, body: { name: 'Own' } })).status).toBe(201);
    },
  },
  {
    route: 'removeMember',
    name: 'a withdrawn invitation admits nobody, and the address may be invited again',
    ask: async (world) => named(await invite(world, 'withdrawn@example.com')),
    status: 200,
    body: () => ({ user: { status: 'invited' } }),
    async after(world) {
      const { service } = world;
      const as = await signIn(service, 'withdrawn');
      expect((await service.call('GET', '/v1/organizations/me', { as })).status).toBe(403);
      expect(await invite(world, 'withdrawn@example.com')).toMatch(/^usr_/);
      expect((await service.call('GET', '/v1/organizations/me', { as })).status).toBe(200);
    },
  },
  {
    route: 'removeMember',
    name: 'an admin may not remove an owner',
    ask: ({ ours }) => named(ours.ownerId),
    status: 403,
    code: 'insufficient_role',
  },
  ...[{ sessions: 'sell' }, { sessions: 'handOver' }].map(
    (query): Scenario => ({
      route: 'removeMember',
      name: `the query ${JSON.stringify(query)}`,
      ask: ({ ours }) => ({ ...named(ours.memberId), query }),
      status: 400,
      code: 'validation_failed',
      after: async (world) => expect(await statusOf(world, world.ours.memberId)).toBe('active'),
    }),
  ),
  {
    route: 'removeMember',
    name: 'machines and sessions are not handed over to the removed member',
    ask: ({ ours }) => ({ ...named(ours.memberId), query: { sessions: 'handOver', to: ours.memberId } }),
    status: 400,
    says: /^\/to /,
  },
  ...(['ours', 'theirs'] as const).map(
    (whose): Scenario => ({
      route: 'removeMember',
      name: `machines and sessions are not handed over to ${whose === 'ours' ? 'somebody invited' : 'another organization'}`,
      ask: (world) => {
        const to = whose === 'ours' ? world.ours.userId : world.theirs.memberId;
        return { ...named(world.ours.memberId), query: { sessions: 'handOver', to } };
      },
      status: 404,
      says: /^No such member/,
    }),
  ),
  { route: 'removeMember', name: 'an unknown member', ask: named('usr_none'), status: 404, code: 'not_found' },
  {
    route: 'removeMember',
    name: 'the last owner may not be removed',
    as: ({ ours }) => ours.owner,
    ask: ({ ours }) => named(ours.ownerId),
    status: 409,
    code: 'last_owner',
    after: async (world) => expect(await statusOf(world, world.ours.ownerId)).toBe('active'),
  },
  {
    route: 'removeMember',
    name: "the member's sessions stay, and their secrets too if the request says so",
    ask: async (world) => {
      const { userId, token } = await join(world, 'capturer', 'admin');
      const issued = await world.service.call('POST', '/v1/organizations/me/secrets', { as: token });
      return { ...named(userId), headers: {}, query: { secrets: 'keep', secret: issued.body.value } };
    },
    status: 200,
    async after({ service, ours }, _reply, ask) {
      const { body } = await service.call('GET', '/v1/organizations/me/sessions', { as: ours.member });
      expect(body.sessions.map(({ sessionId }: { sessionId: string }) => sessionId)).toContain(ours.sessionId);
      expect((await service.call('GET', '/v1/secret', { as: String(ask.query?.secret) })).status).toBe(200);
    },
  },
  {
    route: 'passOwnership',
    name: 'an admin is refused',
    ask: ({ ours }) => ({ body: { userId: ours.memberId } }),
    status: 403,
    code: 'insufficient_role',
  },
  {
    route: 'passOwnership',
    name: 'an invited person who has not answered',
    as: ({ ours }) => ours.owner,
    ask: ({ ours }) => ({ body: { userId: ours.userId } }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'passOwnership',
    name: 'a missing person',
    as: ({ ours }) => ours.owner,
    ask: { body: {} },
    status: 400,
    says: /^\/userId /,
  },
  {
    route: 'passOwnership',
    name: 'passing ownership to oneself changes nothing',
    as: ({ ours }) => ours.owner,
    status: 200,
    body: ({ ours }) => ({ ownerUserId: ours.ownerId }),
    after: async ({ service, ours }) =>
      expect((await service.call('GET', '/v1/me', { as: ours.owner })).body.role).toBe('owner'),
  },
  {
    route: 'passOwnership',
    name: 'the named member becomes the owner, and the owner becomes an admin who may leave',
    as: ({ ours }) => ours.owner,
    ask: async (world) => ({ body: { userId: (await join(world, 'heir')).userId } }),
    status: 200,
    async after({ service, ours }, reply, ask) {
      expect(reply.body.ownerUserId).toBe((ask.body as { userId: string }).userId);
      const heir = await signIn(service, 'heir');
      expect((await service.call('GET', '/v1/me', { as: heir })).body.role).toBe('owner');
      expect((await service.call('GET', '/v1/me', { as: ours.owner })).body.role).toBe('admin');
      await service.call('POST', '/v1/organizations/me/owner', { as: heir, body: { userId: ours.ownerId } });
    },
  },
  {
    route: 'leaveOrganization',
    name: 'a member leaves and belongs to no organization',
    as: async (world) => (await join(world, 'leaver')).token,
    status: 200,
    body: () => ({ email: 'leaver@example.com' }),
    without: ({ ours }) => ['"role"', ours.organizationId],
    async after({ service }) {
      const as = await signIn(service, 'leaver');
      expect((await service.call('GET', '/v1/organizations/me', { as })).status).toBe(403);
    },
  },
  {
    route: 'leaveOrganization',
    name: 'the last owner may not leave',
    as: ({ ours }) => ours.owner,
    status: 409,
    code: 'last_owner',
  },
  {
    route: 'leaveOrganization',
    name: 'an unknown value for secrets',
    as: ({ ours }) => ours.member,
    ask: { query: { secrets: 'sell' } },
    status: 400,
    says: /^\/secrets /,
  },
];
