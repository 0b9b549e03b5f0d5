import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SCIM_SCHEMAS, SCIM_TYPE } from '../../contract/directory.ts';
import { Problem, type ProblemCode } from '../../contract/problem.ts';
import { toProblem } from '../to-problem.ts';

/** The only place that turns an error into an answer. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error);
  if (problem.status >= 500) request.log.error({ err: problem.cause ?? error, code: problem.code }, 'request failed');
  else request.log.debug({ code: problem.code }, problem.message);
  if (problem.retryAfter !== undefined) reply.header('retry-after', String(problem.retryAfter));
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  const isScim = request.url.startsWith('/scim/');
  reply
    .code(problem.status)
    .type(isScim ? SCIM_TYPE : 'application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(isScim ? toScimError(problem) : problem.toBody());
}

/** The keyword of RFC 7644 (3.12) for a problem, if there is one. */
const SCIM_WORDS: Partial<Record<ProblemCode, string>> = {
  malformed_json: 'invalidSyntax',
  validation_failed: 'invalidValue',
  quota_reached: 'tooMany',
  invalid_filter: 'invalidFilter',
  invalid_path: 'invalidPath',
  member_exists: 'uniqueness',
};

function toScimError({ code, status, message }: Problem) {
  const scimType = SCIM_WORDS[code];
  return { schemas: [SCIM_SCHEMAS.error], status: String(status), ...(scimType && { scimType }), detail: message };
}

/** Answers bytes that Node cannot parse as HTTP. They never become a request. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  // A browser opened the connection in advance. It would read this answer as the answer to its next request.
  const isUnused = socket.bytesRead === 0;
  if (error.code === 'ECONNRESET' || isUnused || !socket.writable) return void socket.destroy();
  const problem = /TIMEOUT/.test(error.code ?? '')
    ? new Problem('service_unavailable', 'The request took too long to arrive. Try again.', { retryAfter: 1 })
    : new Problem(
        'validation_failed',
        'The request is malformed: it cannot be read as HTTP, or its headers are too long.',
      );
  const body = JSON.stringify(problem.toBody());
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...(problem.retryAfter === undefined ? [] : [`retry-after: ${problem.retryAfter}`]),
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
