import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { compressZstd, decompressGzip, decompressZstd } from './compression.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;

const TIMES = 100;
const CHUNK = 64 * 1024;
const bytes = Buffer.alloc(50_000, 'a few words ');
const [zstd, gzip] = [compressZstd(bytes), gzipSync(bytes)];

test('decompressing leaves no memory that only a full collection of garbage would free', async () => {
  const run = () => decompressZstd(zstd, { chunkSize: CHUNK });
  run();
  collect({ type: 'minor' });
  const before = process.memoryUsage().arrayBuffers;
  for (let n = 0; n < TIMES; n++) run();
  await expect
    .poll(() => {
      collect({ type: 'minor' });
      return process.memoryUsage().arrayBuffers - before;
    })
    .toBeLessThan((TIMES * CHUNK) / 10);
});

test('the bytes are the same after compressing and decompressing', () => {
  expect(decompressZstd(zstd).equals(bytes)).toBe(true);
  expect(decompressGzip(gzip).equals(bytes)).toBe(true);
  expect(() => decompressZstd(zstd, { maxOutputLength: 100 })).toThrow(
    expect.objectContaining({ code: 'ERR_BUFFER_TOO_LARGE' }),
  );
});
