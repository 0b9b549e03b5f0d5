import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { postHead } from '../append/connections.ts';

/** Ways to send what no well-meaning client sends. Whatever is answered is read to its end, or not, and forgotten. */

/** Nobody waits longer for an answer; a case has then shown what it can do. */
const LIMIT_MS = 20_000;

/** Of the first answer on a connection; `nothing` where there was none, or nobody waited for it. */
export type Status = number | 'nothing';

/** Sends the bytes; resolves when answers have come and no more do, or the connection is closed. */
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

/** Reads a little of the answer now and then, and goes away before it has all. */
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

/** Goes away `ms` after it has asked. */
export async function dropAfter(port: number, request: string, ms: number): Promise<Status> {
  const socket = open(port, () => undefined);
  socket.write(request);
  await sleep(ms);
  socket.destroy();
  return 'nothing';
}

/** Promises a body of `length` bytes, sends all but the last of them, and waits. */
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
