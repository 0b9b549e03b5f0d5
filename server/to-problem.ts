import type { FastifyError } from 'fastify';
import { Problem } from '../contract/problem.ts';
import { damageIn, isUnavailable, storeUnavailable } from './store/dialect.ts';

/** The problem that answers an error. The cause of the error is only for the log. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (damageIn(error)) return damaged(error);
  if (isUnavailable(error)) return storeUnavailable(error);
  const { code, statusCode } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new Problem('validation_failed', 'The body is larger than this route accepts.', { cause: error });
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new Problem('validation_failed', 'The request is malformed: its address, headers or body cannot be read.', {
      cause: error,
    });
  }
  return new Problem('internal', 'Something went wrong in the service. Its log says what.', { cause: error });
}

const damaged = (cause: unknown) =>
  new Problem(
    'events_damaged',
    'Data that this answer needs is damaged in the store. Ask the operator of this service to restore it from a backup.',
    { cause },
  );
