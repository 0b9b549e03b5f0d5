import { isAscii, isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../contract/problem.ts';

/** Decoded bytes of any body but an append's. */
export const MAX_BODY_BYTES = 256 * 1024;

const decoders = { gzip: promisify(gunzip), zstd: promisify(zstdDecompress) };

/**
 * The body's bytes with their content encoding undone.
 * @throws Problem `validation_failed` for an unknown encoding, broken data, or more than `limit` decoded bytes
 */
export async function decodeBody(request: FastifyRequest, limit: number): Promise<Buffer> {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') {
    if (bytes.byteLength > limit) throw tooLarge(limit);
    return bytes;
  }
  if (encoding !== 'gzip' && encoding !== 'zstd') {
    throw new Problem('validation_failed', `The body is encoded as ${encoding}. Send it plain, or as gzip or zstd.`);
  }
  try {
    return await decoders[encoding](bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new Problem('validation_failed', `The body cannot be decoded as ${encoding}.`, { cause: error });
  }
}

const tooLarge = (limit: number) =>
  new Problem('validation_failed', `The decoded body is larger than the ${limit} bytes this route takes.`);

/** @throws Problem `malformed_json` */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Problem('malformed_json', 'The body is not UTF-8.');
  try {
    // Most bodies are ASCII, of which a string is made by copying: 7 against 27 µs for 52 KiB.
    return JSON.parse(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'));
  } catch (error) {
    throw new Problem('malformed_json', 'The body is not JSON.', { cause: error });
  }
}
