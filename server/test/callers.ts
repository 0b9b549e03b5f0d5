import { generateKeyPair, SignJWT } from 'jose';
import type { ProblemCode } from '../../contract/problem.ts';
import { newSecretValue } from '../credentials.ts';
import type { KindName } from './authorization.ts';
import { beginSignIn, registerMachine } from './factories.ts';
import type { World } from './world.ts';

/** One way to be a caller of a kind, and the problem codes that routes with another kind of credential answer. */
export interface Caller {
  kind: KindName;
  name: string;
  headers: (world: World) => Record<string, string> | Promise<Record<string, string>>;
  /** On a route that takes a secret. */
  withoutSecret?: ProblemCode;
  /** On a route that takes a signed-in person. */
  withoutPerson?: ProblemCode;
}

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

const foreignKey = (await generateKeyPair('ES256')).privateKey;

/** A token with our claims, signed with a foreign key. */
const forged = () =>
  new SignJWT({ email: 'ours-owner@example.com', email_verified: true })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer('https://identity.test')
    .setAudience('dashboard')
    .setSubject('ours-owner')
    .setExpirationTime('1h')
    .sign(foreignKey);

/** The same token with `alg: none` and no signature. */
const unsigned = (token: string) => {
  const [, claims] = token.split('.');
  return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`;
};

/** The secret that one of our machines gets by signing in. */
async function secretOf({ service, ours }: World, hostname: string): Promise<string> {
  const { deviceCode, userCode } = await beginSignIn(service, hostname);
  const decision = { as: ours.owner, body: { userCode, decision: 'approve' } };
  await service.call('POST', '/v1/organizations/me/device-sign-in', decision);
  return (await service.call('POST', '/v1/device-sign-ins/secret', { body: { deviceCode } })).body.value;
}

const MISSING = { withoutSecret: 'secret_missing', withoutPerson: 'token_missing' } as const;
const NEITHER = { withoutSecret: 'secret_invalid', withoutPerson: 'token_invalid' } as const;
const NO_SECRET = { withoutSecret: 'secret_invalid', withoutPerson: 'secret_not_accepted' } as const;
const REVOKED = { withoutSecret: 'secret_revoked', withoutPerson: 'secret_not_accepted' } as const;
const SECRET = { withoutPerson: 'secret_not_accepted' } as const;
const PERSON = { withoutSecret: 'secret_invalid' } as const;

export const CALLERS: readonly Caller[] = [
  { kind: 'nobody', name: 'nobody', headers: () => ({}), ...MISSING },
  { kind: 'malformed', name: 'another scheme', headers: () => ({ authorization: 'Basic eDp5' }), ...MISSING },
  { kind: 'malformed', name: 'nonsense', headers: () => bearer('nonsense'), ...NEITHER },
  {
    kind: 'malformed',
    name: 'a secret with a typo',
    headers: ({ ours }) => bearer(ours.live.slice(0, -1) + (ours.live.endsWith('a') ? 'b' : 'a')),
    ...NO_SECRET,
  },
  { kind: 'malformed', name: 'half a secret', headers: ({ ours }) => bearer(ours.live.slice(0, 20)), ...NO_SECRET },
  { kind: 'malformed', name: 'an unknown secret', headers: () => bearer(newSecretValue('live')), ...NO_SECRET },
  { kind: 'forged', name: 'a forged token', headers: async () => bearer(await forged()), ...NEITHER },
  { kind: 'forged', name: 'an unsigned token', headers: ({ ours }) => bearer(unsigned(ours.owner)), ...NEITHER },
  {
    kind: 'expired',
    name: 'an expired token',
    headers: async ({ service }) => bearer(await service.identity.token({ subject: 'ours-owner' }, -3600)),
    withoutSecret: 'secret_invalid',
    withoutPerson: 'token_expired',
  },
  { kind: 'revoked', name: 'a revoked secret', headers: ({ revokedSecret }) => bearer(revokedSecret), ...REVOKED },
  {
    kind: 'revoked',
    name: 'a revoked secret in its header',
    headers: ({ revokedSecret }) => ({ 'x-service-secret': revokedSecret }),
    ...REVOKED,
  },
  {
    kind: 'foreignSecret',
    name: 'a secret of another organization',
    headers: ({ theirs }) => bearer(theirs.live),
    ...SECRET,
  },
  { kind: 'testSecret', name: 'a secret of the test plane', headers: ({ ours }) => bearer(ours.test), ...SECRET },
  {
    kind: 'otherMachine',
    name: 'the secret of another machine',
    async headers(world) {
      const hostname = 'ours-other-host';
      await registerMachine(world.service, world.ours.live, hostname);
      return bearer(await secretOf(world, hostname));
    },
    ...SECRET,
  },
  {
    kind: 'machine',
    name: 'the secret of the machine',
    headers: async (world) => bearer(await secretOf(world, 'ours-host')),
    ...SECRET,
  },
  { kind: 'secret', name: 'a secret', headers: ({ ours }) => bearer(ours.live), ...SECRET },
  {
    kind: 'secret',
    name: 'a secret in its header',
    headers: ({ ours }) => ({ 'x-service-secret': ours.live }),
    ...SECRET,
  },
  {
    kind: 'foreignDirectory',
    name: 'the directory of another organization',
    headers: ({ theirs }) => bearer(theirs.directoryToken),
    ...NEITHER,
  },
  {
    kind: 'directory',
    name: 'the directory',
    headers: ({ ours }) => bearer(ours.directoryToken),
    ...NEITHER,
  },
  { kind: 'stranger', name: 'a person without organization', headers: ({ stranger }) => bearer(stranger), ...PERSON },
  {
    kind: 'foreignMember',
    name: 'a member of another organization',
    headers: ({ theirs }) => bearer(theirs.member),
    ...PERSON,
  },
  {
    kind: 'foreignAdmin',
    name: 'an admin of another organization',
    headers: ({ theirs }) => bearer(theirs.admin),
    ...PERSON,
  },
  { kind: 'member', name: 'a member', headers: ({ ours }) => bearer(ours.member), ...PERSON },
  { kind: 'admin', name: 'an admin', headers: ({ ours }) => bearer(ours.admin), ...PERSON },
  { kind: 'owner', name: 'an owner', headers: ({ ours }) => bearer(ours.owner), ...PERSON },
];
