import type { FastifyRequest } from 'fastify';
import type { Role } from '../../contract/organization.ts';
import { Problem } from '../../contract/problem.ts';
import type { Auth } from '../../contract/route.ts';
import type { Claims } from '../claims.ts';
import { deviceCodeIn, hashSecret, looksLikeDirectoryToken, looksLikeSecret } from '../credentials.ts';
import type { Identity } from '../identity/identity.ts';
import { SignIns } from '../identity/sign-ins.ts';
import type { Limits } from '../limits.ts';
import { findReader } from '../store/devices.ts';
import { findDirectoryByHash } from '../store/directory.ts';
import { type Caller, resolveCaller } from '../store/people.ts';
import type { Db } from '../store/schema.ts';
import type { LastUses } from './last-uses.ts';
import { createSecretLookup, type SecretCaller } from './secret-lookup.ts';

/** A signed-in person, with or without an organization. */
export interface UserCaller extends Caller {
  claims: Claims;
}

/** A signed-in member of an organization. */
export interface MemberCaller extends UserCaller {
  organizationId: string;
  role: Role;
}

/** The directory of an organization. */
export interface DirectoryCaller {
  tokenId: string;
  organizationId: string;
}

/** The caller, by the route's `auth`. */
export interface Callers {
  public: undefined;
  visitor: UserCaller | undefined;
  secret: SecretCaller;
  user: UserCaller;
  member: MemberCaller;
  admin: MemberCaller;
  directory: DirectoryCaller;
}

export type CallerOf<Kind extends Auth> = Callers[Kind];

export interface Authenticator {
  /** @throws Problem 401 or 403; RateLimited for an address that sent too many unknown secrets */
  authenticate<Kind extends Auth>(kind: Kind, request: FastifyRequest, isForReading?: true): Promise<Callers[Kind]>;
  /**
   * Makes every replica refuse revoked secrets. Replicas that reach the store see the revocation within 4 s. The others hear it
   * on the bus, and accept nothing without the bus.
   */
  revokeSecrets(secretIds: readonly string[]): Promise<void>;
  close(): void;
}

/** Carries revocations of secrets between replicas. */
export interface RevocationChannel {
  publishRevocation(secretId: string): Promise<void>;
  /** @returns a function that ends the subscription */
  subscribeRevocations(listener: (secretId: string) => void): () => void;
}

export interface AuthenticatorOptions {
  db: Db;
  identity: Identity;
  pepper: string;
  limits: Limits;
  lastUses: Pick<LastUses, 'add'>;
  bus?: RevocationChannel | undefined;
  now: () => number;
  onError: (error: unknown) => void;
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { bus } = options;
  const secrets = createSecretLookup(options);
  const stopHearing = bus?.subscribeRevocations(secrets.forget);
  const signIns = options.identity.recordsSignIns ? undefined : new SignIns(options.db, options.now);
  const user = async (request: FastifyRequest) => {
    const caller = await authenticateUser(options, request);
    if (caller.membership) await signIns?.note(caller.membership.organizationId, caller.userId);
    return caller;
  };
  const people = {
    user,
    member: async (request: FastifyRequest) => asMember(await user(request)),
    admin: async (request: FastifyRequest) => asAdmin(asMember(await user(request))),
  };
  const secret = async (request: FastifyRequest) => secrets.find(readSecret(request), request.ip);
  const directory = (request: FastifyRequest) => authenticateDirectory(options, request);
  const visitor = async (request: FastifyRequest) =>
    bearerOf(request) === undefined && headerOf(request) === undefined ? undefined : user(request);
  const byKind = { public: async () => undefined, visitor, secret, directory, ...people };
  return {
    authenticate: async (kind, request, isForReading) => {
      const reader = isForReading && (await authenticateReader(options, request));
      return (reader || (await byKind[kind](request))) as Callers[typeof kind];
    },
    async revokeSecrets(secretIds) {
      for (const secretId of secretIds) {
        secrets.forget(secretId);
        await bus?.publishRevocation(secretId);
      }
    },
    close: () => stopHearing?.(),
  };
}

async function authenticateUser(options: AuthenticatorOptions, request: FastifyRequest): Promise<UserCaller> {
  const token = bearerOf(request);
  if (looksLikeSecret(token ?? '') || (token === undefined && headerOf(request) !== undefined)) {
    throw new Problem('secret_not_accepted', 'The dashboard takes a signed-in person, not an organization secret.');
  }
  if (token === undefined) throw new Problem('token_missing', 'Sign in, and send the token as a bearer token.');
  const claims = await options.identity.verify(token);
  return { claims, ...(await resolveCaller(options.db, claims, options.now())) };
}

/**
 * A machine on which a person has signed in for reading. Reads the store each time, so that it ends with the membership.
 * Undefined if the request has another credential.
 */
async function authenticateReader({ db, pepper, limits, now }: AuthenticatorOptions, request: FastifyRequest) {
  const deviceCode = deviceCodeIn(bearerOf(request) ?? '');
  if (deviceCode === undefined) return undefined;
  limits.check('stray', request.ip);
  const reader = await findReader(db, hashSecret(pepper, deviceCode), now());
  if (!reader) {
    await limits.count('stray', request.ip).catch(() => undefined);
    throw new Problem('token_invalid', 'This sign-in for reading is over. Run the command again, and confirm it.');
  }
  const { issuer, subject, email, ...member } = reader;
  const claims = { issuer, subject, emailVerified: false };
  return { ...member, email, emailVerified: false, claims } satisfies MemberCaller;
}

/** Reads the store each time: a directory sends few requests, and a revoked token must stop working at once. */
async function authenticateDirectory(
  { db, pepper, limits, lastUses, now }: AuthenticatorOptions,
  request: FastifyRequest,
): Promise<DirectoryCaller> {
  const token = bearerOf(request);
  if (token === undefined) {
    throw new Problem('token_missing', 'Send the token of the directory as a bearer token.');
  }
  limits.check('stray', request.ip);
  const row = looksLikeDirectoryToken(token) ? await findDirectoryByHash(db, hashSecret(pepper, token)) : undefined;
  if (!row) {
    await limits.count('stray', request.ip).catch(() => undefined);
    throw new Problem('token_invalid', 'This token belongs to no directory. Issue one on the page of members.');
  }
  const { token_id: tokenId, organization_id: organizationId } = row;
  lastUses.add({ kind: 'directory token', organizationId, id: tokenId, at: now() });
  return { tokenId, organizationId };
}

function asMember(caller: UserCaller): MemberCaller {
  const { membership } = caller;
  if (!membership)
    throw new Problem('no_organization', 'You belong to no organization yet. Create one, or be invited.');
  return { ...caller, organizationId: membership.organizationId, role: membership.role };
}

function asAdmin(caller: MemberCaller): MemberCaller {
  if (caller.role === 'member') throw new Problem('insufficient_role', 'Only an admin or owner may do this. Ask one.');
  return caller;
}

function readSecret(request: FastifyRequest): string {
  const value = headerOf(request) ?? bearerOf(request);
  if (value !== undefined) return value;
  throw new Problem('secret_missing', 'Send an organization secret in X-Service-Secret or as a bearer token.');
}

function headerOf(request: FastifyRequest): string | undefined {
  const value = request.headers['x-service-secret'];
  return typeof value === 'string' ? value.trim() : undefined;
}

function bearerOf(request: FastifyRequest): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
}
