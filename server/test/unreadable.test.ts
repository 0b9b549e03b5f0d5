import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { answerUnreadable } from '../http/errors.ts';

/** The answer on a connection that ends with the error after it has sent this many bytes. */
function answerOn(bytesRead: number, code: string): string {
  const socket = Object.assign(new PassThrough(), { bytesRead });
  answerUnreadable(Object.assign(new Error(code), { code }), socket as unknown as Socket);
  return String(socket.read() ?? '');
}

describe('a connection that the service gives up', () => {
  test.each([
    { name: 'gets 503 if its request is too slow', bytesRead: 10, status: '503' },
    { name: 'is closed without an answer if it was never used', bytesRead: 0, status: undefined },
  ])('$name', ({ bytesRead, status }) => {
    const answer = answerOn(bytesRead, 'ERR_HTTP_REQUEST_TIMEOUT');
    expect(answer.split(' ')[1]).toBe(status);
  });

  test('gets 400 if it sends no HTTP', () => {
    expect(answerOn(10, 'HPE_INVALID_METHOD')).toMatch(/^HTTP\/1\.1 400 .*"code":"validation_failed"\}$/s);
  });
});
