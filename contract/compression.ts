import { gunzipSync, type ZlibOptions, type ZstdOptions, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

type Input = NodeJS.ArrayBufferView | string;

/** The answer of Node's functions with the option `info`. */
interface Outcome {
  buffer: Buffer<ArrayBuffer>;
  engine: { _outBuffer?: Buffer | undefined };
}

/**
 * Makes a function of Node release its memory at once. Node's compressors and decompressors survive until the next full collection of garbage,
 * each with its first chunk of output, often 64 KiB. A busy service would therefore need a full collection every second.
 */
const released =
  <Options extends object>(run: (bytes: Input, options: Options) => unknown) =>
  (bytes: Input, options?: Options): Buffer<ArrayBuffer> => {
    const { buffer, engine } = run(bytes, { ...options, info: true } as unknown as Options) as Outcome;
    engine._outBuffer = undefined;
    return buffer;
  };

/** Compresses bytes into one zstd frame that declares its size. */
export const compressZstd = released<ZstdOptions>(zstdCompressSync);

/** @throws an error with a `code`: `ERR_BUFFER_TOO_LARGE` if there are more than `maxOutputLength` bytes */
export const decompressZstd = released<ZstdOptions>(zstdDecompressSync);

/** @throws an error with a `code`: `ERR_BUFFER_TOO_LARGE` if there are more than `maxOutputLength` bytes */
export const decompressGzip = released<ZlibOptions>(gunzipSync);
