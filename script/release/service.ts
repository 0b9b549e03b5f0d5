import { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { NODE_FLOOR } from '../../contract/download.ts';
import { ROOT, requireNode } from './bundle.ts';

/**
 * The entry file for `node`. Before it loads the service, it turns on the cache of compiled code and turns off the optimizing
 * compiler: a start gains nothing from it, and an idle service keeps 5 MB less without it.
 */
const MAIN = `'use strict';
${requireNode('the service', 'Install a newer one from https://nodejs.org. In a clone, `npx node` runs the one of its packages.')}
const { setFlagsFromString } = require('node:v8');
setFlagsFromString('--no-turbofan');
setTimeout(() => setFlagsFromString('--turbofan'), 2000).unref();
require('node:module').enableCompileCache(require('node:path').join(__dirname, '.cache'));
require('./service.cjs');
`;

/**
 * Makes a folder with the service in a few files: `node FOLDER/main.cjs`. It starts in a third of the time of the sources, with
 * two thirds of their memory. It is CommonJS because an `import` of a built-in module reads all exports of the module, and for
 * `node:http` these include a whole second HTTP client. Code that is loaded on demand has separate files.
 * @param program the entry file, relative to the root
 * @returns the bytes of code, and the absolute paths of the bundled files
 */
export async function makeService(folder: string, program = 'server/main.ts') {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const build = await rolldown({
    input: { service: join(ROOT, program) },
    cwd: ROOT,
    platform: 'node',
    transform: { target: `node${NODE_FLOOR}` },
    plugins: [keepNeighbours(folder)],
    onLog(level, log) {
      // `depd`, with which koa's helpers make their warnings, uses `eval`.
      if (log.code !== 'EVAL') throw new Error(`${level}: ${log.message}`);
    },
  });
  const { output } = await build.write({
    dir: folder,
    format: 'cjs',
    comments: false,
    // Otherwise the bundler's helpers, which every file needs, share a file with typebox, which each thread then loads.
    codeSplitting: { groups: [{ name: 'typebox', test: /node_modules.typebox/ }] },
    // Keep names, so that stack traces stay readable.
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
  });
  await build.close();
  const chunks = output
    .filter((file) => file.type === 'chunk')
    .map(({ fileName, code, moduleIds }) => ({ fileName, code: toAscii(code), moduleIds }));
  for (const { fileName, code } of chunks) writeFileSync(join(folder, fileName), code);
  // Write this file last, since it marks a complete build.
  writeFileSync(join(folder, 'main.cjs'), MAIN);
  const bytes = chunks.reduce((sum, { code }) => sum + code.length, 0);
  return { bytes, modules: chunks.flatMap(({ moduleIds }) => moduleIds) };
}

/**
 * Escapes characters outside ASCII: a single one makes V8 store the file with two bytes for each character, which takes 3 MB more
 * for the service.
 */
const toAscii = (code: string) =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Handles `new URL('./x', import.meta.url)`, with which the sources name files beside them. It copies a file into the build,
 * bundles a program (a worker thread) separately, and points to a folder at its original place.
 */
function keepNeighbours(folder: string): Plugin {
  return {
    name: 'keep-neighbours',
    transform(code, id) {
      if (!id.startsWith(join(ROOT, 'server')) || !code.includes('import.meta.url')) return undefined;
      return code.replace(/new URL\('([^']+)', import\.meta\.url\)/g, (_, path: string) => {
        const target = resolve(dirname(id), path);
        const placed = place(target, (fileName) => this.emitFile({ type: 'chunk', id: target, fileName }));
        return `new URL('${placed}', import.meta.url)`;
      });
    },
  };

  /** The path of the file or folder, relative to the build. */
  function place(target: string, emitProgram: (fileName: string) => void): string {
    const name = basename(target);
    if (name.endsWith('.ts')) {
      const program = name.replace(/ts$/, 'cjs');
      emitProgram(program);
      return `./${program}`;
    }
    if (!statSync(target, { throwIfNoEntry: false })?.isFile()) return relative(folder, target);
    cpSync(target, join(folder, name));
    return `./${name}`;
  }
}
