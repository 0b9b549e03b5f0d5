import type { FastifyRequest } from 'fastify';
import { Problem } from '../../contract/problem.ts';
import type { Auth } from '../../contract/route.ts';
import type { Identity } from '../identity/identity.ts';
import { hashSecret, isSecretValue, looksLikeSecret } from '../secret-value.ts';
import type { Db } from '../store/open.ts';
import { resolveCaller } from '../store/people.ts';
import { findSecretByHash, markSecretUsed } from '../store/secrets.ts';
import type { Callers, MemberCaller, SecretCaller, UserCaller } from './caller.ts';

export interface Authenticator {
  /** @throws Problem 401 or 403 */
  authenticate<Kind extends Auth>(kind: Kind, request: FastifyRequest): Promise<Callers[Kind]>;
  /** Forgets a secret at once on this replica; others follow within `SECRET_CACHE_MS`. */
  forgetSecrets(): void;
}

export interface AuthenticatorOptions {
  db: Db;
  identity: Identity;
  pepper: string;
  now: () => number;
  onError: (error: unknown) => void;
}

/** Revocation is in force on every replica after this long at most. */
const SECRET_CACHE_MS = 4_000;
const MOST_CACHED = 10_000;
/** `lastUsedAt` is coarse, so that a busy secret costs no write a request. */
const LAST_USED_EVERY_MS = 60_000;

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const secrets = createSecretLookup(options);
  const people = {
    user: (request: FastifyRequest) => authenticateUser(options, request),
    member: async (request: FastifyRequest) => asMember(await authenticateUser(options, request)),
    admin: async (request: FastifyRequest) => asAdmin(asMember(await authenticateUser(options, request))),
  };
  const byKind = { public: async () => undefined, secret: secrets.authenticate, ...people };
  return {
    authenticate: (kind, request) => byKind[kind](request) as Promise<Callers[typeof kind]>,
    forgetSecrets: secrets.forget,
  };
}

function createSecretLookup({ db, pepper, now, onError }: AuthenticatorOptions) {
  interface Known {
    caller: SecretCaller;
    until: number;
    usedAt: number;
  }
  const cache = new Map<string, Known>();

  async function authenticate(request: FastifyRequest): Promise<SecretCaller> {
    const value = secretOf(request);
    if (value === undefined) {
      throw new Problem('secret_missing', 'Send an organization secret in X-Service-Secret or as a bearer token.');
    }
    if (!isSecretValue(value))
      throw new Problem('secret_invalid', 'This is no organization secret. Check it for typos.');
    const hash = hashSecret(pepper, value);
    const known = cache.get(hash);
    if (known && known.until > now()) {
      noteUse(known);
      return known.caller;
    }
    cache.delete(hash);
    const row = await findSecretByHash(db, hash);
    if (!row)
      throw new Problem('secret_invalid', 'This organization secret is not known here. Issue one in the dashboard.');
    if (row.status === 'revoked') {
      throw new Problem('secret_revoked', 'This organization secret was revoked. Issue a new one in the dashboard.');
    }
    const caller = { secretId: row.secret_id, organizationId: row.organization_id, plane: row.plane };
    if (cache.size >= MOST_CACHED) cache.clear();
    const entry = { caller, until: now() + SECRET_CACHE_MS, usedAt: 0 };
    cache.set(hash, entry);
    noteUse(entry);
    return caller;
  }

  function noteUse(known: Known): void {
    if (now() - known.usedAt < LAST_USED_EVERY_MS) return;
    known.usedAt = now();
    markSecretUsed(db, known.caller.organizationId, known.caller.secretId, known.usedAt).catch(onError);
  }

  return { authenticate, forget: () => cache.clear() };
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

const secretOf = (request: FastifyRequest) => headerOf(request) ?? bearerOf(request);

function headerOf(request: FastifyRequest): string | undefined {
  const value = request.headers['x-service-secret'];
  return typeof value === 'string' ? value.trim() : undefined;
}

function bearerOf(request: FastifyRequest): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
}
