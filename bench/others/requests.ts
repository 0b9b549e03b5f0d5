import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { postHead } from '../append/connections.ts';

/** Sends requests that no well-behaved client sends. Answers are read completely or not at all, and then discarded. */

/** The longest wait for an answer; after it, a case has shown its effect. */
const LIMIT_MS = 20_000;

/** Status of the first answer on a connection; `nothing` if there was none or the case did not wait for it. */
export type Status = number | 'nothing';

/** Sends the bytes, and resolves after the last answer or when the connection is closed. */
export function sendRaw(port: number, parts: readonly (string | Buffer)[]): Promise<Status> {
  return new Promise((resolve) => {
    let status: Status = 'nothing';
    const socket = open(port, () => resolve(status));
    for (const part of parts) socket.write(part);
    let idle: NodeJS.Timeout | undefined;
    socket.on('data', (chunk) => {
      if (status === 'nothing') status = Number(chunk.toString('latin1', 9, 12));
      clearTimeout(idle);
      idle = setTimeout(() => socket.destroy(), 200);
    });
  });
}

function open(port: number, onClose: () => void): Socket {
  const socket = connect(port, '127.0.0.1');
  const limit = setTimeout(() => socket.destroy(), LIMIT_MS);
  socket.on('error', () => undefined);
  socket.once('close', () => {
    clearTimeout(limit);
    onClose();
  });
  return socket;
}

export const postRaw = (port: number, path: string, secret: string, body: Buffer, encoding?: string): Promise<Status> =>
  sendRaw(port, [postHead(path, secret, body.byteLength, encoding ? { 'content-encoding': encoding } : {}), body]);

/** A request without a body, as text. */
export const requestText = (method: string, path: string, credential: string): string =>
  `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${credential}\r\n\r\n`;

/** Reads the answer slowly in small pieces, and disconnects before its end. */
export async function readSlowly(port: number, request: string, ms: number): Promise<Status> {
  const socket = open(port, () => undefined);
  socket.write(request);
  const until = performance.now() + ms;
  while (performance.now() < until) {
    socket.pause();
    await sleep(50);
    socket.resume();
    await sleep(1);
  }
  socket.destroy();
  return 'nothing';
}

/** Disconnects `ms` after the request. */
export async function dropAfter(port: number, request: string, ms: number): Promise<Status> {
  const socket = open(port, () => undefined);
  socket.write(request);
  await sleep(ms);
  socket.destroy();
  return 'nothing';
}

/** Announces a body of `length` bytes, sends all but the last one, and waits. */
export async function holdBody(port: number, path: string, length: number, ms: number): Promise<Status> {
  const socket = open(port, () => undefined);
  socket.write(postHead(path, 'sk_live_nobody', length));
  socket.write(Buffer.alloc(length - 1, ' '));
  await sleep(ms);
  socket.destroy();
  return 'nothing';
}

export const zstd = (body: Buffer): Buffer =>
  zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 19, [constants.ZSTD_c_windowLog]: 24 } });
export const gzip = (body: Buffer): Buffer => gzipSync(body, { level: 9 });
