import { constants as zlib, zstdCompressSync } from 'node:zlib';

/** How the events of an append are stored. */
export interface Frame {
  codec: number;
  body: Uint8Array<ArrayBuffer>;
}

/** A line of `[eventType, bytes]` pairs and the payloads one behind the other. */
export const PLAIN = 0;
/** The same, compressed as a whole. */
export const ZSTD = 1;
/** A line of `[eventType, start, bytes]` and the request body as it was sent, in zstd, into which they point. */
export const SENT = 2;

/** Below this a compressor costs more time to set up than the whole rest of an append. */
const SMALLEST_COMPRESSED = 1536;
const PARAMS = { [zlib.ZSTD_c_compressionLevel]: 1 };
const LARGEST_CHUNK = 64 * 1024;

/** Compresses what is plain, where that makes it smaller. */
export function pack({ codec, body }: Frame): Frame {
  if (codec !== PLAIN || body.byteLength < SMALLEST_COMPRESSED) return { codec, body };
  // One output chunk for the whole batch, and none larger than what is of use: 19 against 24 µs for 2 KiB.
  const chunkSize = Math.min(body.byteLength, LARGEST_CHUNK);
  const packed = zstdCompressSync(body, { params: PARAMS, chunkSize }) as Buffer<ArrayBuffer>;
  return packed.byteLength < body.byteLength ? { codec: ZSTD, body: packed } : { codec, body };
}
