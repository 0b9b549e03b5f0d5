import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyResult, jwtVerify } from 'jose';
import { Problem } from '../../contract/problem.ts';
import type { Claims } from '../claims.ts';
import { objectIdOf } from './entra.ts';
import { KeysUnavailable } from './keys.ts';
import { type EmailRules, readProfile } from './profile.ts';

export interface VerifierOptions {
  keys: JWTVerifyGetKey;
  /** The exact issuer. Called after `keys`, because the name of a discovered provider is unknown before. */
  issuer: () => string;
  /** Whether the token was made for this service. */
  isForUs: (payload: JWTPayload) => boolean;
  emails: EmailRules;
  /** Called for the bearer of an access token that contains no e-mail. */
  findUserinfo?: (token: string, subject: string) => Promise<JWTPayload | undefined>;
  now: () => number;
}

/** RFC 8725 §3.1: the service chooses the algorithms, never the token. All of them are asymmetric. */
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA', 'Ed25519'];
/** Seconds that clocks may differ. */
const LEEWAY = 60;

/**
 * Checks JWTs of one issuer: signature, algorithm, `iss`, audience, `exp` and `nbf` (RFC 7519, RFC 8725).
 * @throws Problem `token_invalid`, `token_expired`, or `service_unavailable` if the provider has never returned its keys. The
 * messages repeat nothing of the token or of the provider's answers.
 */
export function createVerifier(options: VerifierOptions): (token: string) => Promise<Claims> {
  const { keys, issuer, isForUs, emails, findUserinfo, now } = options;
  return async (token) => {
    const { payload, protectedHeader } = await check(token, keys, now);
    const { iss, sub, exp } = payload;
    const isBearer = iss === issuer() && isForUs(payload) && !isLogoutToken(payload, protectedHeader.typ);
    if (!isBearer || typeof sub !== 'string' || sub === '') throw invalid();
    const directoryId = objectIdOf(payload);
    const hasEmail = typeof payload[emails.claim] === 'string' || !isAccessToken(payload, protectedHeader.typ);
    const profile = hasEmail ? payload : ((await findUserinfo?.(token, sub)) ?? payload);
    return {
      issuer: iss,
      subject: sub,
      expiresAt: Number(exp) * 1000,
      ...(directoryId !== undefined && { directoryId }),
      ...readProfile(profile, payload, emails),
    };
  };
}

async function check(token: string, keys: JWTVerifyGetKey, now: () => number): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, keys, {
      algorithms: ALGORITHMS,
      clockTolerance: LEEWAY,
      currentDate: new Date(now()),
      requiredClaims: ['iss', 'sub', 'exp'],
    });
  } catch (error) {
    throw toProblem(error);
  }
}

function toProblem(error: unknown): Problem {
  if (error instanceof KeysUnavailable) {
    const sentence = 'The identity provider cannot be reached, so nobody can be signed in right now. Try again.';
    return new Problem('service_unavailable', sentence, { retryAfter: error.retryAfter, cause: error });
  }
  if (error instanceof errors.JWTExpired) {
    return new Problem('token_expired', 'The sign-in has expired. Sign in again.', { cause: error });
  }
  return invalid(error);
}

const invalid = (cause?: unknown) =>
  new Problem('token_invalid', 'This is not a token of a signed-in person. Sign in again.', { cause });

/** OpenID Connect Back-Channel Logout §2.4: a logout token has the same issuer and audience, but is not a sign-in. */
const isLogoutToken = (payload: JWTPayload, type: string | undefined) =>
  payload.events !== undefined || type?.toLowerCase() === 'logout+jwt';

/** RFC 9068 `at+jwt`, Cognito's `token_use`, or a granted scope. The userinfo endpoint does not accept an ID token. */
const isAccessToken = (payload: JWTPayload, type: string | undefined) =>
  type?.toLowerCase().endsWith('at+jwt') || payload.token_use === 'access' || typeof payload.scope === 'string';

/**
 * Whether a token was made for the client: `aud` names it, and so does `azp` if `aud` names others too (OpenID Connect Core
 * §3.1.3.7). Access tokens of Amazon Cognito have a `client_id` instead of `aud`.
 */
export const isForClient =
  (clientId: string) =>
  ({ aud, azp, client_id }: JWTPayload): boolean => {
    if (aud === undefined) return client_id === clientId;
    const audiences = [aud].flat();
    return audiences.includes(clientId) && (audiences.length === 1 || azp === undefined || azp === clientId);
  };
