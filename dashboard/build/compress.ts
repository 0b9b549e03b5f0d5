import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXTS = /\.(?:js|css|html|svg)$/;
/** In bytes. A file that fits into one packet gains nothing from compression. */
const SMALLEST = 1_000;

/** Compresses the build output once and well, so that the service only chooses between the variants of a file. */
export const compress = (): Plugin => {
  let folder: string;
  return {
    name: 'compress',
    apply: 'build',
    configResolved({ root, build }) {
      folder = join(root, build.outDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (!TEXTS.test(name)) continue;
        const path = join(folder, name);
        const content = readFileSync(path);
        if (content.length < SMALLEST) continue;
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
};
