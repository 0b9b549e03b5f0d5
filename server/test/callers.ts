import { generateKeyPair, SignJWT } from 'jose';
import type { ProblemCode } from '../../contract/problem.ts';
import type { Auth } from '../../contract/route.ts';
import { newSecretValue } from '../credentials.ts';
import type { World } from './world.ts';

/** Somebody who may not call a route, and what they are told. */
export interface WrongCaller {
  name: string;
  headers: (world: World) => Record<string, string> | Promise<Record<string, string>>;
  status: 401 | 403;
  code: ProblemCode;
}

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

const foreignKey = (await generateKeyPair('ES256')).privateKey;

/** A token as ours would be, signed by somebody else. */
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

const SECRET: readonly WrongCaller[] = [
  { name: 'nobody', headers: () => ({}), status: 401, code: 'secret_missing' },
  { name: 'another scheme', headers: () => ({ authorization: 'Basic eDp5' }), status: 401, code: 'secret_missing' },
  { name: 'a token', headers: ({ ours }) => bearer(ours.owner), status: 401, code: 'secret_invalid' },
  { name: 'nonsense', headers: () => bearer('nonsense'), status: 401, code: 'secret_invalid' },
  {
    name: 'a secret with a typo',
    headers: ({ ours }) => bearer(ours.live.slice(0, -1) + (ours.live.endsWith('a') ? 'b' : 'a')),
    status: 401,
    code: 'secret_invalid',
  },
  { name: 'half a secret', headers: ({ ours }) => bearer(ours.live.slice(0, 20)), status: 401, code: 'secret_invalid' },
  { name: 'an unknown secret', headers: () => bearer(newSecretValue('live')), status: 401, code: 'secret_invalid' },
  {
    name: 'a revoked secret',
    headers: ({ revokedSecret }) => ({ 'x-service-secret': revokedSecret }),
    status: 401,
    code: 'secret_revoked',
  },
  {
    name: 'a revoked secret as a bearer token',
    headers: ({ revokedSecret }) => bearer(revokedSecret),
    status: 401,
    code: 'secret_revoked',
  },
];

const USER: readonly WrongCaller[] = [
  { name: 'nobody', headers: () => ({}), status: 401, code: 'token_missing' },
  { name: 'another scheme', headers: () => ({ authorization: 'Basic eDp5' }), status: 401, code: 'token_missing' },
  { name: 'a secret', headers: ({ ours }) => bearer(ours.live), status: 401, code: 'secret_not_accepted' },
  {
    name: 'a secret in its header',
    headers: ({ ours }) => ({ 'x-service-secret': ours.live }),
    status: 401,
    code: 'secret_not_accepted',
  },
  { name: 'a mistyped secret', headers: () => bearer('sk_live_x'), status: 401, code: 'secret_not_accepted' },
  { name: 'nonsense', headers: () => bearer('nonsense'), status: 401, code: 'token_invalid' },
  { name: 'a forged token', headers: async () => bearer(await forged()), status: 401, code: 'token_invalid' },
  {
    name: 'an unsigned token',
    headers: ({ ours }) => bearer(unsigned(ours.owner)),
    status: 401,
    code: 'token_invalid',
  },
  {
    name: 'an expired token',
    headers: async ({ service }) => bearer(await service.identity.token({ subject: 'ours-owner' }, -3600)),
    status: 401,
    code: 'token_expired',
  },
];

const MEMBER: readonly WrongCaller[] = [
  ...USER,
  {
    name: 'a person without organization',
    headers: ({ stranger }) => bearer(stranger),
    status: 403,
    code: 'no_organization',
  },
];

/** By what a route asks of its caller. */
export const WRONG_CALLERS: Record<Auth, readonly WrongCaller[]> = {
  public: [],
  secret: SECRET,
  user: USER,
  member: MEMBER,
  admin: [
    ...MEMBER,
    { name: 'a member', headers: ({ ours }) => bearer(ours.member), status: 403, code: 'insufficient_role' },
  ],
};
