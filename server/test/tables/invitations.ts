import { expect } from 'vitest';
import { signIn } from '../factories.ts';
import type { Ask } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';

export const MEMBERS = '/v1/organizations/me/members';

export const invite = async (
  { service, ours }: World,
  email: string,
  role = 'member',
  as = ours.owner,
): Promise<string> => (await service.call('POST', MEMBERS, { as, body: { email, role } })).body.userId;

export const named = (userId: string, body?: object): Ask => ({ params: { userId }, ...(body && { body }) });

export const statusOf = async ({ service, ours }: World, userId: string): Promise<string | undefined> => {
  const { body } = await service.call('GET', MEMBERS, { as: ours.owner });
  return body.users.find((user: { userId: string }) => user.userId === userId)?.status;
};

/** Creates a person whom our organization has invited. */
async function inviteOnce(world: World, name: string): Promise<string> {
  await invite(world, `${name}@example.com`, 'admin');
  return signIn(world.service, name);
}

/** Creates a person whom two organizations have invited. */
async function inviteTwice(world: World, name: string): Promise<string> {
  const { service } = world;
  const others = await signIn(service, `others-of-${name}`);
  await service.call('POST', '/v1/organizations', { as: others, body: { name: 'others' } });
  await invite(world, `${name}@example.com`, 'admin');
  await invite(world, `${name}@example.com`, 'member', others);
  return signIn(service, name);
}

export const INVITATIONS: readonly Scenario[] = [
  {
    route: 'listInvitations',
    name: 'waiting invitations show the outcome of their mails',
    ask: async (world) => {
      world.service.identity.linkExpiresAt = world.service.clock.now + 1000;
      await invite(world, 'mailed@example.com', 'admin');
      delete world.service.identity.linkExpiresAt;
      return {};
    },
    status: 200,
    body: ({ service }) => ({
      invitations: expect.arrayContaining([
        {
          userId: expect.any(String),
          email: 'mailed@example.com',
          role: 'admin',
          mailedAt: new Date(service.clock.now).toISOString(),
          expiresAt: new Date(service.clock.now + 1000).toISOString(),
        },
      ]),
    }),
    without: () => ['ours-member@example.com', 'theirs-'],
  },
  {
    route: 'listInvitations',
    name: 'invitations say that no mail server sent their mails',
    ask: async (world) => {
      world.service.identity.keepsMails = true;
      await invite(world, 'unsent@example.com', 'admin');
      return {};
    },
    status: 200,
    body: () => ({
      invitations: expect.arrayContaining([
        expect.objectContaining({ email: 'unsent@example.com', mailedAt: expect.any(String), isInOutbox: true }),
      ]),
    }),
    after({ service }) {
      delete service.identity.keepsMails;
    },
  },
  {
    route: 'repeatInvitation',
    name: 'the invitation is mailed again with its role',
    ask: async (world) => {
      const userId = await invite(world, 'again@example.com', 'admin');
      world.service.clock.now += 60_000;
      return named(userId);
    },
    status: 200,
    body: ({ service }) => ({ email: 'again@example.com', mailedAt: new Date(service.clock.now).toISOString() }),
    after({ service }) {
      const mails = service.identity.invitations.filter(({ email }) => email === 'again@example.com');
      expect(mails).toEqual(Array(2).fill({ email: 'again@example.com', organizationName: 'ours', role: 'admin' }));
    },
  },
  {
    route: 'repeatInvitation',
    name: 'an admin may not repeat the invitation of an owner',
    ask: async (world) => named(await invite(world, 'next-owner@example.com', 'owner')),
    status: 403,
    code: 'insufficient_role',
  },
  {
    route: 'repeatInvitation',
    name: 'a member has no invitation',
    ask: ({ ours }) => named(ours.memberId),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'repeatInvitation',
    name: 'the invitation stays if the identity provider fails',
    ask: async (world) => named(await invite(world, 'stays@example.com')),
    identityBroken: true,
    status: 502,
    code: 'idp_invite_failed',
    after: async (world, _reply, ask) => expect(await statusOf(world, ask.params?.userId ?? '')).toBe('invited'),
  },
  {
    route: 'getPerson',
    name: 'a person with two invitations is asked, the latest one first',
    as: (world) => inviteTwice(world, 'wanted'),
    status: 200,
    body: ({ ours }) => ({
      invitations: [
        { organizationName: 'others', role: 'member' },
        { organizationId: ours.organizationId, organizationName: 'ours', role: 'admin' },
      ],
    }),
    without: () => ['"organization":'],
  },
  {
    route: 'acceptInvitation',
    name: 'accepting one invitation declines the other, and that organization sees why',
    as: (world) => inviteTwice(world, 'chooser'),
    status: 200,
    body: ({ ours }) => ({ role: 'admin', organization: { organizationId: ours.organizationId } }),
    without: () => ['"invitations"'],
    async after({ service }) {
      const as = await signIn(service, 'others-of-chooser');
      const { users } = (await service.call('GET', MEMBERS, { as })).body;
      expect(users).toHaveLength(1);
      const again = { as, body: { email: 'chooser@example.com' } };
      expect((await service.call('POST', MEMBERS, again)).body.code).toBe('member_exists');
    },
  },
  {
    route: 'getPerson',
    name: 'a single invitation takes effect at the first request if accounts are by invitation only',
    as: (world) => inviteOnce(world, 'joins-at-once'),
    status: 200,
    body: ({ ours }) => ({ role: 'admin', organization: { organizationId: ours.organizationId } }),
    without: () => ['"invitations"'],
  },
  {
    route: 'getPerson',
    name: 'a single invitation waits for an answer if anyone may sign up',
    openSignUp: true,
    as: (world) => inviteOnce(world, 'is-asked'),
    status: 200,
    body: ({ ours }) => ({
      invitations: [{ organizationId: ours.organizationId, organizationName: 'ours', role: 'admin' }],
    }),
    without: () => ['"organization"', '"role":"owner"'],
    async after({ service, ours }) {
      const as = await signIn(service, 'is-asked');
      expect(await service.call('GET', '/v1/organizations/me', { as })).toMatchObject({ status: 403 });
      const { users } = (await service.call('GET', MEMBERS, { as: ours.owner })).body;
      const one = users.find(({ email }: { email: string }) => email === 'is-asked@example.com');
      expect(one).toMatchObject({ status: 'invited' });
      expect(one).not.toHaveProperty('joinedAt');
    },
  },
  {
    route: 'acceptInvitation',
    name: 'accepting a single invitation makes the person a member if anyone may sign up',
    openSignUp: true,
    as: (world) => inviteOnce(world, 'says-yes'),
    status: 200,
    body: ({ ours }) => ({ role: 'admin', organization: { organizationId: ours.organizationId } }),
    async after({ service, ours }) {
      const as = await signIn(service, 'says-yes');
      expect(await service.call('GET', '/v1/organizations/me', { as })).toMatchObject({
        status: 200,
        body: { organizationId: ours.organizationId },
      });
    },
  },
  {
    route: 'createOrganization',
    name: 'founding an organization declines a single invitation if anyone may sign up',
    openSignUp: true,
    as: (world) => inviteOnce(world, 'says-no'),
    status: 201,
    async after({ service, ours }) {
      const { users } = (await service.call('GET', MEMBERS, { as: ours.owner })).body;
      expect(users.map(({ email }: { email: string }) => email)).not.toContain('says-no@example.com');
    },
  },
  {
    route: 'acceptInvitation',
    name: 'an organization that did not invite the person',
    as: ({ service }) => signIn(service, 'uninvited'),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'acceptInvitation',
    name: 'an unverified e-mail accepts no invitation',
    as: async (world) => {
      await inviteTwice(world, 'unproven');
      return world.service.identity.token({
        subject: 'unproven',
        email: 'unproven@example.com',
        emailVerified: false,
      });
    },
    status: 404,
    code: 'not_found',
  },
  {
    route: 'acceptInvitation',
    name: 'a member belongs to an organization already',
    as: ({ ours }) => ours.member,
    status: 409,
    code: 'organization_exists',
  },
  {
    route: 'acceptInvitation',
    name: 'a missing organization',
    ask: { body: {} },
    status: 400,
    says: /^\/organizationId /,
  },
];
