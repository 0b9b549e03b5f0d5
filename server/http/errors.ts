import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../contract/problem.ts';
import { isUnavailable, storeUnavailable } from '../store/dialect.ts';

/** The one place where an error becomes an answer. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error);
  if (problem.status >= 500) request.log.error({ err: problem.cause ?? error, code: problem.code }, 'request failed');
  else request.log.debug({ code: problem.code }, problem.message);
  if (problem.retryAfter !== undefined) reply.header('retry-after', String(problem.retryAfter));
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  reply.code(problem.status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(problem.toBody());
}

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error)) return storeUnavailable(error);
  const { code, statusCode } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new Problem('validation_failed', 'The body is larger than this route takes.', { cause: error });
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new Problem('validation_failed', 'The request is malformed: its address, headers or body cannot be read.', {
      cause: error,
    });
  }
  return new Problem('internal', 'Something went wrong in the service. Its log says what.', { cause: error });
}
