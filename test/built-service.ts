import { renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TestProject } from 'vitest/node';
import { isBuilt } from '../script/is-built.ts';
import { ROOT } from '../script/release/bundle.ts';
import { makeService } from '../script/release/service.ts';
import { keepCompiled } from './compiled.ts';
import { BUILT_SERVICE } from './service.ts';

const FOLDER = dirname(BUILT_SERVICE);

const PROGRAM = /new URL\('\.\/(?:[\w-]+\/)*([\w-]+)\.ts', import\.meta\.url\)/g;

/**
 * Starts the service's threads from the build instead of from source. The thread that derives then takes 50 ms of processor time
 * to start instead of 250 ms, and the tests start hundreds of services.
 */
export const builtThreads = () => ({
  name: 'built-threads',
  enforce: 'pre' as const,
  transform(code: string, id: string) {
    if (!/\/server\/(?!test\/)[^?]*\.ts$/.test(id) || code.search(PROGRAM) < 0) return undefined;
    return code.replace(PROGRAM, (_, name: string) => `new URL('${pathToFileURL(join(FOLDER, `${name}.cjs`))}')`);
  },
});

export default ({ config }: TestProject): Promise<void> => buildService(config.env.NODE_COMPILE_CACHE);

/**
 * Builds the service again if a source is newer, and lets Node cache the compiled code. Another test run may do the same at the
 * same time.
 */
export async function buildService(compileCache?: string): Promise<void> {
  if (isBuilt(relative(ROOT, BUILT_SERVICE), ['server', 'script/release/service.ts'])) return;
  const made = `${FOLDER}-${process.pid}`;
  await makeService(made);
  rmSync(FOLDER, { recursive: true, force: true });
  renameSync(made, FOLDER);
  if (compileCache !== undefined) await keepCompiled(compileCache, BUILT_SERVICE);
}
