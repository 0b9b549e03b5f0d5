import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { decompressGzip, decompressZstd } from '../../contract/compression.ts';
import { Problem } from '../../contract/problem.ts';
import { contentSizeOf, isOneFrame, splitFrames } from '../../contract/zstd-frame.ts';
import { SLICE_BYTES, sliceOf } from '../work.ts';
import type { Account } from './budget.ts';

/** Largest decoded body, unless the route says otherwise. */
export const MAX_BODY_BYTES = 256 * 1024;

/** Largest compressed body that is decoded on this thread: 50 events take 23 µs here, and 143 µs on another thread. */
const SMALL_BYTES = 64 * 1024;

const DECODERS = {
  gzip: { decode: decompressGzip, createStream: createGunzip },
  zstd: { decode: decompressZstd, createStream: createZstdDecompress },
};

type Encoding = keyof typeof DECODERS;

/** A decoded body. */
export interface ReceivedBody {
  bytes: Buffer;
  /** The body in its sent form, if that was zstd. */
  zstd?: Buffer;
}

/** A zstd frame and its decoded content. */
export interface SentFrame {
  zstd: Buffer;
  plain: Buffer;
}

/**
 * Reads and decodes a body. Its memory is charged to the account.
 * @throws Problem `validation_failed` for an unknown encoding, broken data, or more than `limit` decoded bytes;
 * `service_unavailable` when the account has no room
 */
export async function readBody(request: IncomingMessage, limit: number, account: Account): Promise<ReceivedBody> {
  const encoding = encodingOf(request);
  const sent = await receive(request, limit, account);
  if (encoding === undefined) return { bytes: sent };
  // The body must be one frame, because decoders treat further frames differently and the stored body is decoded again later.
  if (encoding === 'zstd' && !isOneFrame(sent)) throw undecodable('as zstd: it must be one frame and nothing else');
  const bytes = await decode(sent, encoding, limit, account);
  if (encoding === 'zstd') return { bytes, zstd: sent };
  account.give(sent.byteLength);
  return { bytes };
}

/**
 * Reads a body of consecutive zstd frames that declare their sizes. All are decoded into one piece of memory.
 * @throws Problem `validation_failed` for any other body, for more than `most` frames, or more than `limit` bytes, sent or
 * decoded; `service_unavailable` when the account has no room
 */
export async function readFrames(
  request: IncomingMessage,
  limit: number,
  most: number,
  account: Account,
): Promise<SentFrame[]> {
  if (encodingOf(request)) throw undecodable('twice: zstd frames take no Content-Encoding');
  const sent = splitFrames(await receive(request, limit, account), most);
  if (!sent) throw undecodable(`as zstd: it must be 1 to ${most} frames and nothing else`);
  const lengths = sent.map((zstd) => contentSizeOf(zstd));
  if (lengths.includes(undefined)) throw undecodable('as zstd: each frame must declare its size');
  const size = lengths.reduce<number>((sum, length) => sum + Number(length), 0);
  if (size > limit) throw tooLarge(limit);
  account.take(size);
  const memory = Buffer.allocUnsafeSlow(size);
  const frames: SentFrame[] = [];
  let start = 0;
  let sinceSlice = 0;
  for (const [index, zstd] of sent.entries()) {
    const plain = memory.subarray(start, start + Number(lengths[index]));
    start += plain.byteLength;
    sinceSlice += plain.byteLength;
    await sliceOf(sinceSlice, () => decodeInto(plain, zstd));
    if (sinceSlice > SLICE_BYTES) sinceSlice = 0;
    frames.push({ zstd, plain });
  }
  return frames;
}

/** @throws Problem `malformed_json` */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Problem('malformed_json', 'The body is not UTF-8.');
  try {
    // Most bodies are ASCII. Decoding then only copies: 7 µs instead of 27 for 52 KiB.
    return JSON.parse(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'));
  } catch (error) {
    throw new Problem('malformed_json', 'The body is not JSON.', { cause: error });
  }
}

function encodingOf({ headers }: IncomingMessage): Encoding | undefined {
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return undefined;
  if (encoding === 'gzip' || encoding === 'zstd') return encoding;
  throw new Problem('validation_failed', `The body is encoded as ${encoding}. Send it plain, or as gzip or zstd.`);
}

const isEmpty = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;

/** @throws Problem `validation_failed` for more than `limit` bytes, or if the request breaks off */
function receive(request: IncomingMessage, limit: number, account: Account): Promise<Buffer> {
  if (isEmpty(request)) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length']) > limit) return reject(tooLarge(limit));
    if (request.destroyed) return reject(brokenOff());
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (error: Error) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      // Discards the bytes that still arrive, so that the client reads the answer.
      request.resume();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.byteLength;
      try {
        if (size > limit) throw tooLarge(limit);
        account.take(chunk.byteLength);
        chunks.push(chunk);
      } catch (error) {
        stop(error as Error);
      }
    };
    const onEnd = () => resolve(joined(chunks, size));
    // 'close' also follows 'end'. Creating an error with its stack would then waste 5 µs.
    const onClose = () => {
      if (!request.readableEnded) stop(brokenOff());
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/** Most bodies arrive as one chunk that owns its memory. */
function joined(chunks: Buffer[], size: number): Buffer {
  const [only] = chunks;
  return only && chunks.length === 1 ? only : Buffer.concat(chunks, size);
}

/** Only for the log: the caller has left. */
const brokenOff = () => new Problem('validation_failed', 'The request ended before its body did.');

async function decode(bytes: Buffer, encoding: Encoding, limit: number, account: Account): Promise<Buffer> {
  try {
    if (bytes.byteLength <= SMALL_BYTES) {
      const decoded = decodeSmall(bytes, encoding, Math.min(limit, SLICE_BYTES));
      if (decoded) {
        account.take(decoded.byteLength);
        return decoded;
      }
      if (limit <= SLICE_BYTES) throw tooLarge(limit);
    }
    return await decodeLarge(bytes, encoding, limit, account);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw undecodable(`as ${encoding}`, error);
  }
}

/**
 * Large enough for a usual body in one chunk, because decoding 50 KiB in Node's chunks of 16 KiB takes half as long again. Not
 * much larger, because collecting unused memory would take longer than decoding.
 */
const chunkFor = ({ byteLength }: Buffer) => Math.min(64 * 1024, Math.max(2 * 1024, 4 * byteLength));

/** @returns undefined when the result is larger than `maxOutputLength` */
function decodeSmall(bytes: Buffer, encoding: Encoding, maxOutputLength: number): Buffer | undefined {
  try {
    return DECODERS[encoding].decode(bytes, { maxOutputLength, chunkSize: chunkFor(bytes) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw error;
  }
}

function decodeInto(target: Buffer, zstd: Buffer): void {
  const size = target.byteLength;
  try {
    const plain = decompressZstd(zstd, {
      maxOutputLength: size + 1,
      chunkSize: Math.max(MIN_CHUNK, size + 1),
    });
    if (plain.byteLength !== size) throw new Error(`a frame declares ${size} bytes and holds ${plain.byteLength}`);
    target.set(plain);
  } catch (error) {
    throw undecodable('as zstd', error);
  }
}

/** The smallest output chunk that Node accepts. */
const MIN_CHUNK = 64;

async function decodeLarge(bytes: Buffer, encoding: Encoding, limit: number, account: Account): Promise<Buffer> {
  const stream = DECODERS[encoding].createStream({ chunkSize: 256 * 1024 });
  stream.end(bytes);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    account.take(chunk.byteLength);
    chunks.push(chunk);
  }
  return joined(chunks, size);
}

const undecodable = (as: string, cause?: unknown) =>
  new Problem('validation_failed', `The body cannot be decoded ${as}.`, { cause });

const tooLarge = (limit: number) =>
  new Problem('validation_failed', `The body is larger than the ${limit} bytes that this route accepts.`);
