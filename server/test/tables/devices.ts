import { expect } from 'vitest';
import { isSecretValue } from '../../credentials.ts';
import { beginSignIn } from '../factories.ts';
import type { Ask } from '../requests.ts';
import type { Scenario } from '../scenarios.ts';
import type { World } from '../world.ts';

const MACHINE = { hostname: 'laptop', platform: 'linux', serviceCliVersion: '1.0.0' };
const LATER = 10 * 60_000;

const decide = ({ service }: World, as: string, body: object) =>
  service.call('POST', '/v1/organizations/me/device-sign-in', { as, body });

/** Starts a sign-in and decides about it. */
async function decided(world: World, decision: 'approve' | 'deny', more: object = {}, as = world.ours.admin) {
  const begun = await beginSignIn(world.service, 'laptop');
  await decide(world, as, { userCode: begun.userCode, decision, ...more });
  return begun;
}

async function decidedForReading(world: World) {
  const begun = await beginSignIn(world.service, 'laptop', 'reading');
  await decide(world, world.ours.admin, { userCode: begun.userCode, decision: 'approve' });
  return begun;
}

async function countSecrets({ service, ours }: World): Promise<string> {
  const { secrets } = (await service.call('GET', '/v1/organizations/me/secrets', { as: ours.member })).body;
  return String(secrets.length);
}

const collect = async ({ deviceCode }: { deviceCode: string }): Promise<Ask> => ({ body: { deviceCode } });

/** Sets the policy that only admins confirm machines, for one row; `forMembers` resets it. */
async function forAdmins<Given>({ service, ours }: World, given: Given): Promise<Given> {
  const body = { signIn: 'admins' };
  await service.call('PUT', '/v1/organizations/me/policy', { as: ours.owner, body });
  return given;
}

async function forMembers({ service, ours }: World): Promise<void> {
  await service.call('PUT', '/v1/organizations/me/policy', { as: ours.owner, body: {} });
}

/** The effects of a policy with `signIn: 'admins'` on members. */
const POLICY: readonly Scenario[] = [
  ...(['getDeviceSignIn', 'decideDeviceSignIn'] as const).map(
    (route): Scenario => ({
      route,
      name: 'a member is refused if the policy requires an admin',
      ask: (world) => forAdmins(world, {}),
      status: 403,
      code: 'insufficient_role',
      says: /^In this organization only an admin or owner may confirm machines\. Ask one\.$/,
      after: forMembers,
    }),
  ),
  {
    route: 'decideDeviceSignIn',
    name: 'an admin is accepted if the policy requires one',
    as: ({ ours }) => ours.admin,
    async ask(world) {
      const { userCode } = await beginSignIn(world.service, 'laptop');
      return forAdmins(world, { body: { userCode, decision: 'approve' } });
    },
    status: 200,
    after: forMembers,
  },
  {
    route: 'collectDeviceSecret',
    name: 'a sign-in that a member confirmed hands out its secret',
    ask: async (world) => collect(await decided(world, 'approve', {}, world.ours.member)),
    status: 200,
    body: ({ ours }) => ({ secret: { organizationId: ours.organizationId, createdBy: ours.memberId } }),
  },
  {
    route: 'collectDeviceSecret',
    name: 'a sign-in that a member confirmed is refused once the policy requires an admin',
    async ask(world) {
      const begun = await decided(world, 'approve', {}, world.ours.member);
      return forAdmins(world, await collect(begun));
    },
    status: 400,
    code: 'access_denied',
    after: forMembers,
  },
];

const BEGINNINGS: readonly Scenario[] = [
  {
    route: 'startDeviceSignIn',
    name: 'the machine gets a code to keep and a code to show',
    status: 201,
    body: () => ({ verificationUri: 'http://capture.test/device', expiresIn: 600, interval: 3 }),
    async after({ service }, { body }) {
      expect(body.userCode).toMatch(/^[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}$/);
      const rows = await service.store.db.selectFrom('device_sign_ins').selectAll().execute();
      const kept = JSON.stringify(rows);
      for (const code of [body.deviceCode, body.userCode, body.userCode.replace('-', '')]) {
        expect(kept).not.toContain(code);
      }
    },
  },
  ...Object.entries({
    hostname: '',
    platform: 'amiga',
    serviceCliVersion: 'x'.repeat(65),
  }).map(
    ([field, value]): Scenario => ({
      route: 'startDeviceSignIn',
      name: `an invalid ${field}`,
      ask: { body: { ...MACHINE, [field]: value } },
      status: 400,
      code: 'validation_failed',
      says: new RegExp(`^/${field} `),
    }),
  ),
];

const INVISIBLE = {
  'a control character': 'lap\u001b[2Jtop',
  'a line break': 'lap\ntop',
  'a bidirectional override': 'lap\u202etop',
  'a zero-width space': 'lap\u200btop',
  'a line separator': 'lap\u2028top',
  'a lone surrogate': 'lap\ud800top',
  'blanks alone': ' \u00a0\u3000 ',
};

/** The names that people read, by their routes and fields. */
const NAMES = [
  ['startDeviceSignIn', 'hostname', MACHINE],
  ['registerEnvironment', 'hostname', MACHINE],
  ['registerEnvironment', 'displayName', MACHINE],
  ['createOrganization', 'name', {}],
  ['renameOrganization', 'name', {}],
  ['issueSecret', 'name', {}],
  ['saveView', 'name', { search: {} }],
] as const;

const UNREADABLE_NAMES: readonly Scenario[] = NAMES.flatMap(([route, field, body]) =>
  Object.entries(INVISIBLE).map(
    ([what, name]): Scenario => ({
      route,
      name: `a ${field} with ${what}`,
      ask: { body: { ...body, [field]: name } },
      status: 400,
      code: 'validation_failed',
      says: new RegExp(`^/${field} `),
    }),
  ),
);

const UNREADABLE_EMAILS: readonly Scenario[] = ['mi\u200bke@example.com', 'mike@exa\u202emple.com'].map((email) => ({
  route: 'inviteMember',
  name: `an e-mail with the hidden character of ${JSON.stringify(email)}`,
  ask: { body: { email } },
  status: 400,
  code: 'validation_failed',
  says: /^\/email /,
}));

const LOOKS: readonly Scenario[] = [
  {
    route: 'getDeviceSignIn',
    name: 'it shows which machine waits, and from which address',
    status: 200,
    body: () => ({ hostname: 'ours-laptop', platform: 'linux', address: '127.0.0.1', status: 'pending' }),
  },
  {
    route: 'getDeviceSignIn',
    name: 'the code may be typed in any letter case and spacing',
    ask: ({ ours }) => ({ query: { userCode: ` ${ours.userCode.toLowerCase().replace('-', ' ')}` } }),
    status: 200,
  },
  {
    route: 'getDeviceSignIn',
    name: 'an unknown code',
    ask: { query: { userCode: 'AAAA-AAAA' } },
    status: 404,
    code: 'not_found',
  },
  {
    route: 'getDeviceSignIn',
    name: 'an expired sign-in',
    async ask({ service }) {
      const { userCode } = await beginSignIn(service, 'laptop');
      service.clock.now += LATER;
      return { query: { userCode } };
    },
    status: 404,
    async after({ service, ours, theirs }) {
      for (const side of [ours, theirs]) side.userCode = (await beginSignIn(service, 'laptop')).userCode;
    },
  },
  {
    route: 'getDeviceSignIn',
    name: 'a sign-in that another organization has confirmed',
    ask: async (world) => ({
      query: { userCode: (await decided(world, 'approve', {}, world.theirs.admin)).userCode },
    }),
    status: 404,
  },
  { route: 'getDeviceSignIn', name: 'a missing code', ask: { query: {} }, status: 400, says: /^\/userCode / },
];

const DECISIONS: readonly Scenario[] = [
  {
    route: 'decideDeviceSignIn',
    name: 'an approval alone issues no secret',
    async ask(world) {
      const { userCode } = await beginSignIn(world.service, 'laptop');
      return { body: { userCode, decision: 'approve' }, headers: { 'x-secrets': await countSecrets(world) } };
    },
    status: 200,
    body: () => ({ status: 'approved' }),
    after: async (world, _, { headers }) => expect(await countSecrets(world)).toBe(headers?.['x-secrets']),
  },
  {
    route: 'decideDeviceSignIn',
    name: 'a refusal',
    ask: async ({ service }) => ({
      body: { userCode: (await beginSignIn(service, 'laptop')).userCode, decision: 'deny' },
    }),
    status: 200,
    body: () => ({ status: 'denied' }),
  },
  {
    route: 'decideDeviceSignIn',
    name: 'a sign-in that was already decided',
    ask: async (world) => ({ body: { userCode: (await decided(world, 'deny')).userCode, decision: 'approve' } }),
    status: 409,
    code: 'already_decided',
  },
  {
    route: 'decideDeviceSignIn',
    name: 'a sign-in that another organization has decided',
    ask: async (world) => ({
      body: { userCode: (await decided(world, 'approve', {}, world.theirs.admin)).userCode, decision: 'deny' },
    }),
    status: 404,
    code: 'not_found',
  },
  {
    route: 'decideDeviceSignIn',
    name: 'an unknown code',
    ask: { body: { userCode: 'AAAA-AAAA', decision: 'approve' } },
    status: 404,
    code: 'not_found',
  },
  {
    route: 'decideDeviceSignIn',
    name: 'a decision that is neither approve nor deny',
    ask: ({ ours }) => ({ body: { userCode: ours.userCode, decision: 'later' } }),
    status: 400,
    says: /^\/decision /,
  },
];

const COLLECTIONS: readonly Scenario[] = [
  {
    route: 'collectDeviceSecret',
    name: "a confirmed sign-in hands out a secret of that organization with the machine's name",
    ask: async (world) => collect(await decided(world, 'approve')),
    status: 200,
    body: ({ ours }) => ({
      organizationName: 'ours',
      secret: { organizationId: ours.organizationId, name: 'laptop', secretEnvironment: 'live', status: 'active' },
    }),
    async after({ service, ours }, { body }, ask) {
      expect(isSecretValue(body.value)).toBe(true);
      expect((await service.call('GET', '/v1/secret', { as: body.value })).body.organizationId).toBe(
        ours.organizationId,
      );
      const kept = JSON.stringify(await service.store.db.selectFrom('device_sign_ins').selectAll().execute());
      expect(kept).not.toContain(body.value.slice(12, -4));
      const again = () => service.call('POST', '/v1/device-sign-ins/secret', { body: ask.body });
      service.clock.now += 59_000;
      expect(await again()).toMatchObject({ status: 200, body: { value: body.value, secretId: body.secretId } });
      service.clock.now += 1_000;
      expect(await again()).toMatchObject({ status: 400, body: { code: 'expired_token' } });
    },
  },
  {
    route: 'collectDeviceSecret',
    name: 'a sign-in confirmed for the test plane hands out a secret of the test plane',
    ask: async (world) => collect(await decided(world, 'approve', { secretEnvironment: 'test' })),
    status: 200,
    after: (_, { body }) => expect(body.value).toMatch(/^sk_test_/),
  },
  {
    route: 'collectDeviceSecret',
    name: 'a sign-in that waits for its decision',
    ask: async ({ service }) => collect(await beginSignIn(service, 'laptop')),
    status: 400,
    code: 'authorization_pending',
    async after({ service }, _, ask) {
      const poll = async () =>
        (await service.call('POST', '/v1/device-sign-ins/secret', { body: ask.body })).body.code as string;
      expect(await poll()).toBe('slow_down');
      service.clock.now += 3_000;
      expect(await poll()).toBe('authorization_pending');
    },
  },
  {
    route: 'collectDeviceSecret',
    name: 'a denied sign-in',
    ask: async (world) => collect(await decided(world, 'deny')),
    status: 400,
    code: 'access_denied',
  },
  {
    route: 'collectDeviceSecret',
    name: 'a confirmed sign-in whose secret was not collected in time',
    async ask(world) {
      const begun = await decided(world, 'approve');
      world.service.clock.now += LATER;
      return collect(begun);
    },
    status: 400,
    code: 'expired_token',
  },
  {
    route: 'collectDeviceSecret',
    name: 'the code that the person sees collects no secret',
    async ask(world) {
      const { userCode } = await decided(world, 'approve');
      return { body: { deviceCode: userCode } };
    },
    status: 400,
    code: 'expired_token',
  },
  {
    route: 'collectReadingToken',
    name: 'a confirmed sign-in for reading hands out a token that reads events, and nothing else',
    ask: async (world) => collect(await decidedForReading(world)),
    status: 200,
    body: () => ({ expiresIn: 900, organizationName: 'ours' }),
    async after({ service, ours }, { body: { token } }) {
      const url = `/v1/organizations/me/sessions/${ours.sessionId}`;
      expect((await service.call('GET', `${url}/events`, { as: token })).status).toBe(200);
      expect((await service.call('GET', url, { as: token })).status).toBe(401);
      service.clock.now += 900_000;
      expect((await service.call('GET', `${url}/events`, { as: token })).status).toBe(401);
    },
  },
  {
    route: 'collectReadingToken',
    name: 'a confirmed sign-in for capturing hands out no token for reading',
    ask: async (world) => collect(await decided(world, 'approve')),
    status: 400,
    code: 'expired_token',
  },
];

export const DEVICES: readonly Scenario[] = [
  ...POLICY,
  ...BEGINNINGS,
  ...UNREADABLE_NAMES,
  ...UNREADABLE_EMAILS,
  ...LOOKS,
  ...DECISIONS,
  ...COLLECTIONS,
];
