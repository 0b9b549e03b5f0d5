import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { answerUnreadable } from '../http/errors.ts';

/** What is written to a connection that ends in the error, after it had sent so many bytes. */
function answerOn(bytesRead: number, code: string): string {
  const socket = Object.assign(new PassThrough(), { bytesRead });
  answerUnreadable(Object.assign(new Error(code), { code }), socket as unknown as Socket);
  return String(socket.read() ?? '');
}

describe('a connection that is given up', () => {
  test.each([
    { name: 'one on which a request came too slowly is answered 503', bytesRead: 10, status: '503' },
    { name: 'one that was never used is closed without a word', bytesRead: 0, status: undefined },
  ])('$name', ({ bytesRead, status }) => {
    const answer = answerOn(bytesRead, 'ERR_HTTP_REQUEST_TIMEOUT');
    expect(answer.split(' ')[1]).toBe(status);
  });

  test('one that sends no HTTP is answered 400', () => {
    expect(answerOn(10, 'HPE_INVALID_METHOD')).toMatch(/^HTTP\/1\.1 400 .*"code":"validation_failed"\}$/s);
  });
});
