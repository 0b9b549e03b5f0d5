import { ServiceError } from '../../contract/client.ts';
import { codeOf, Failure } from '../failure.ts';
import { NotTheService } from './service.ts';

/**
 * Whether the same request may succeed later. Then it is repeated, byte for byte and under the same key, since it may also
 * have succeeded already.
 */
export function isTemporary(error: unknown): boolean {
  if (error instanceof Failure) return false;
  if (!(error instanceof ServiceError)) return isNetworkError(error);
  const { status, code } = error;
  if (code === 'idempotency_in_progress') return true;
  if (status >= 500 || status === 408 || status === 425 || status === 429) return true;
  // Without a code it was not the service that answered.
  return code === undefined && status !== 401;
}

/** An error of this program is none. */
function isNetworkError(error: unknown): boolean {
  if (error instanceof NotTheService) return true;
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  return (
    error.name === 'TypeError' &&
    (error.message === 'fetch failed' || codeOf(error.cause) !== undefined || error.message === 'terminated')
  );
}

export const hasStatus = (error: unknown, ...statuses: number[]): error is ServiceError =>
  error instanceof ServiceError && statuses.includes(error.status);

export const hasCode = (error: unknown, ...codes: NonNullable<ServiceError['code']>[]): error is ServiceError =>
  error instanceof ServiceError && error.code !== undefined && codes.includes(error.code);
