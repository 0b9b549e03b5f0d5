import { expect } from 'vitest';
import { signIn } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';

const invite = (email: unknown, role?: unknown) => ({ body: { email, role } });

const WRONG_EMAILS: [string, unknown][] = [
  ['no value', undefined],
  ['a word', 'somebody'],
  ['two at signs', 'a@b@c'],
  ['a space', 'a b@example.com'],
  ['a NUL', 'a\u0000b@example.com'],
  ['a display name and an address', 'Ada <a@example.com>'],
  ['two addresses', 'a@example.com,b@example.com'],
  ['255 characters', `${'x'.repeat(243)}@example.com`],
  ['a list', ['a@example.com']],
];

export const MEMBERS: readonly Scenario[] = [
  {
    route: 'listMembers',
    name: 'the list has active and invited members',
    status: 200,
    body: ({ ours }) => ({
      users: expect.arrayContaining([
        expect.objectContaining({ organizationId: ours.organizationId, role: 'owner', status: 'active' }),
        expect.objectContaining({ email: 'ours-admin@example.com', role: 'admin' }),
      ]),
    }),
    without: () => ['theirs-'],
  },
  {
    route: 'inviteMember',
    name: 'the default role is member',
    ask: invite('By.Default@Example.com'),
    status: 201,
    body: () => ({ email: 'By.Default@Example.com', role: 'member', status: 'invited' }),
    after({ service }) {
      expect(service.identity.invitations.at(-1)).toMatchObject({ email: 'By.Default@Example.com', role: 'member' });
    },
  },
  { route: 'inviteMember', name: 'an admin invites an admin', ask: invite('a@example.com', 'admin'), status: 201 },
  {
    route: 'inviteMember',
    name: 'an admin may not invite an owner',
    ask: invite('o@example.com', 'owner'),
    status: 403,
    code: 'insufficient_role',
  },
  {
    route: 'inviteMember',
    name: 'an owner invites an owner',
    as: ({ ours }) => ours.owner,
    ask: invite('o@example.com', 'owner'),
    status: 201,
    body: () => ({ role: 'owner' }),
  },
  ...WRONG_EMAILS.map(
    ([name, email]): Scenario => ({
      route: 'inviteMember',
      name: `an e-mail of ${name}`,
      ask: invite(email),
      status: 400,
      code: 'validation_failed',
      says: /^\/email /,
    }),
  ),
  {
    route: 'inviteMember',
    name: 'an unknown role',
    ask: invite('r@example.com', 'king'),
    status: 400,
    code: 'validation_failed',
    says: /^\/role /,
  },
  {
    route: 'inviteMember',
    name: 'an e-mail that is a member already, in another letter case',
    ask: invite('OURS-Member@example.COM'),
    status: 409,
    code: 'member_exists',
  },
  {
    route: 'inviteMember',
    name: 'an e-mail that is already invited',
    ask: async ({ service, ours }) => {
      await service.call('POST', '/v1/organizations/me/members', { as: ours.owner, ...invite('twice@example.com') });
      return invite('Twice@example.com');
    },
    status: 409,
    code: 'member_exists',
  },
  {
    route: 'inviteMember',
    name: 'a member of another organization',
    ask: async ({ service, theirs }) => {
      await service.call('GET', '/v1/me', { as: theirs.member });
      return invite('theirs-member@example.com');
    },
    status: 409,
    code: 'member_exists',
    without: () => ['theirs'],
  },
  {
    route: 'inviteMember',
    name: 'an e-mail that another organization has invited too',
    ask: invite('theirs-invited@example.com'),
    status: 201,
  },
  {
    route: 'inviteMember',
    name: 'a failing identity provider leaves no member, and the same e-mail can be invited again',
    ask: invite('later@example.com'),
    identityBroken: true,
    status: 502,
    code: 'idp_invite_failed',
    async after({ service, ours }) {
      const { body } = await service.call('GET', '/v1/organizations/me/members', { as: ours.owner });
      expect(JSON.stringify(body)).not.toContain('later@example.com');
      const again = { as: ours.owner, ...invite('later@example.com') };
      expect(await service.call('POST', '/v1/organizations/me/members', again)).toMatchObject({ status: 201 });
    },
  },
  {
    route: 'inviteMember',
    name: 'after a failed invitation, signing in joins nothing',
    ask: invite('never@example.com'),
    identityBroken: true,
    status: 502,
    async after({ service }) {
      const as = await signIn(service, 'never');
      expect((await service.call('GET', '/v1/organizations/me', { as })).status).toBe(403);
    },
  },
];
