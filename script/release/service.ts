import { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { NODE_FLOOR } from '../../contract/download.ts';
import { ROOT } from './bundle.ts';

/**
 * The file that `node` runs. Before it loads the service, it turns on the cache of compiled code and turns off the optimizing
 * compiler: a start gains nothing from it, and an idle service keeps 5 MB less without it.
 */
const MAIN = `'use strict';
const { setFlagsFromString } = require('node:v8');
setFlagsFromString('--no-turbofan');
setTimeout(() => setFlagsFromString('--turbofan'), 2000).unref();
require('node:module').enableCompileCache(require('node:path').join(__dirname, '.cache'));
require('./service.cjs');
`;

/**
 * Makes a folder with the service in a few files, so that it starts in a third of the time and with two thirds of the
 * memory of the sources: `node FOLDER/main.cjs`. It is CommonJS because an `import` of a built-in module reads all that the
 * module offers, and of `node:http` that is a whole second HTTP client. What is loaded on demand lies in files of its own.
 * @param program where it begins, from the root
 * @returns bytes of code, and absolute paths of the files that are in it
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
      // `depd`, of which koa's helpers make their warnings, evaluates text of its own.
      if (log.code !== 'EVAL') throw new Error(`${level}: ${log.message}`);
    },
  });
  const { output } = await build.write({
    dir: folder,
    format: 'cjs',
    comments: false,
    // Otherwise the build's helpers, which every file needs, share a file with typebox, and each thread loads that.
    codeSplitting: { groups: [{ name: 'typebox', test: /node_modules.typebox/ }] },
    // Names stay, so that a stack trace can be read.
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
  });
  await build.close();
  const chunks = output
    .filter((file) => file.type === 'chunk')
    .map(({ fileName, code, moduleIds }) => ({ fileName, code: toAscii(code), moduleIds }));
  for (const { fileName, code } of chunks) writeFileSync(join(folder, fileName), code);
  // Last, since whoever looks whether there is a build looks for this file.
  writeFileSync(join(folder, 'main.cjs'), MAIN);
  const bytes = chunks.reduce((sum, { code }) => sum + code.length, 0);
  return { bytes, modules: chunks.flatMap(({ moduleIds }) => moduleIds) };
}

/**
 * Escapes what is beyond ASCII: V8 keeps a file with a single such character at two bytes for each character, which is 3 MB for
 * the service.
 */
const toAscii = (code: string) =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * `new URL('./x', import.meta.url)` is how the sources name what lies beside them. A file goes along with the build, as a
 * program of its own where it is one (a worker thread); a folder is meant where it is.
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

  /** Where the file or folder is found from the build. */
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
