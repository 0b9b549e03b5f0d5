import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../contract/problem.ts';
import { toProblem } from '../to-problem.ts';

/** The one place where an error becomes an answer. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error);
  if (problem.status >= 500) request.log.error({ err: problem.cause ?? error, code: problem.code }, 'request failed');
  else request.log.debug({ code: problem.code }, problem.message);
  if (problem.retryAfter !== undefined) reply.header('retry-after', String(problem.retryAfter));
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  reply.code(problem.status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(problem.toBody());
}

/** Answers bytes that Node cannot parse as HTTP; they never become a request. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  // A browser opened the connection in advance: it would take this answer for the one to its next request.
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
