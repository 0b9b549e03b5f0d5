import { ServiceError } from '../../contract/client.ts';
import type { ProblemCode } from '../../contract/problem.ts';
import { codeOf, describe, EXIT, Failure, SecretRefused } from '../failure.ts';
import { NotTheService } from './service.ts';

/**
 * Whether the same request may succeed later. Then it is repeated byte for byte under the same key, since it may already have
 * succeeded.
 */
export function isTemporary(error: unknown): boolean {
  if (error instanceof Failure || error instanceof Blocked) return false;
  if (!(error instanceof ServiceError)) return isNetworkError(error);
  const { status, code } = error;
  if (code === 'idempotency_in_progress') return true;
  if (status >= 500 || status === 408 || status === 425 || status === 429) return true;
  // An answer without a code is not from the service.
  return code === undefined && status !== 401;
}

/** An error of this program is not a network error. */
function isNetworkError(error: unknown): boolean {
  if (error instanceof NotTheService) return true;
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  return (
    error.name === 'TypeError' &&
    (error.message === 'fetch failed' || codeOf(error.cause) !== undefined || error.message === 'terminated')
  );
}

/** Something on the way refuses the content, such as a firewall that dislikes a text. Other requests may get through. */
export class Blocked extends Error {}

/** Turns a refusal by a proxy or firewall into `Blocked`. Leaves every other error unchanged. */
export function tellBlocked(error: unknown): unknown {
  const isFromElsewhere = error instanceof ServiceError && error.code === undefined;
  const isRefusal = isFromElsewhere && [400, 403, 406, 413, 414, 415, 422].includes(error.status);
  return isRefusal ? new Blocked(`something on the way to the service answered ${error.status}`) : error;
}

/** An error that may be gone in a moment. */
export const notYet = (code: ProblemCode, error: string): ServiceError =>
  new ServiceError(503, { code, error }, { get: () => null });

export const hasStatus = (error: unknown, ...statuses: number[]): error is ServiceError =>
  error instanceof ServiceError && statuses.includes(error.status);

export const hasCode = (error: unknown, ...codes: NonNullable<ServiceError['code']>[]): error is ServiceError =>
  error instanceof ServiceError && error.code !== undefined && codes.includes(error.code);

/** Says, without a full stop, whether the service answered with an error or not at all. The request is tried again. */
export function tellTrouble(url: string, error: unknown): string {
  const trouble = describe(error).replace(/\.+$/, '');
  return error instanceof ServiceError
    ? `The service at ${url} was reached, but answers with an error: ${trouble}`
    : `The service at ${url} cannot be reached: ${trouble}`;
}

/** Explains an error that a retry cannot fix. `soFar` names the state of the command. */
export function explainRefusal(error: unknown, soFar = 'Captured events are kept, and sent after that.'): unknown {
  if (hasStatus(error, 401)) {
    return new SecretRefused(
      `The service does not accept the organization secret: ${error.message}`,
      `Sign in with \`capture login\`. ${soFar}`,
      error,
    );
  }
  if (hasStatus(error, 404, 405) && error.code !== 'session_deleted') {
    return new Failure(
      EXIT.failure,
      'The service does not know a request of this version of capture.',
      `Ask an administrator to update the service. ${soFar}`,
      error,
    );
  }
  if (hasStatus(error, 403)) {
    return new Failure(
      EXIT.failure,
      `The service refused: ${error.message}`,
      'Check with `capture status` that this secret belongs to the right organization.',
      error,
    );
  }
  return error;
}
