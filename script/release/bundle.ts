import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { NODE_FLOOR } from '../../contract/download.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Bundle {
  code: string;
  /** Absolute paths of the bundled files. */
  modules: string[];
}

/**
 * The first statement of a program, so that an older Node reports the required version instead of failing at an unknown module or
 * syntax. Node 16 and later can parse it.
 */
export const requireNode = (
  subject: string,
  hint: string,
): string => `if (parseInt(process.versions.node, 10) < ${NODE_FLOOR}) {
	console.error('error: ${subject} needs Node.js ${NODE_FLOOR} or newer; this is Node.js ' + process.versions.node + '.');
	console.error('hint: ${hint}');
	process.exit(1);
}`;

const CHECK = requireNode(
  'capture',
  'Install a newer one from https://nodejs.org, or the executable of capture, which brings its own.',
);

/**
 * Bundles the command line into one CommonJS file that needs only Node; docs/decisions/0014 says why CommonJS. The code stays
 * readable without its comments, since stack traces from users' machines refer to it.
 */
export async function bundleProgram(): Promise<Bundle> {
  const build = await rolldown({
    input: join(ROOT, 'cli/main.ts'),
    cwd: ROOT,
    platform: 'node',
    // Other entry points of some packages use their own loader, which cannot be bundled.
    resolve: { mainFields: ['module', 'main'] },
    transform: { target: 'node16' },
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`);
    },
  });
  const { output } = await build.generate({ format: 'cjs', codeSplitting: false, comments: false, intro: CHECK });
  await build.close();
  const [file, ...others] = output;
  if (others.length > 0) throw new Error(`the bundle has ${output.length} files instead of one`);
  // Modules with this prefix belong to the bundler.
  const modules = file.moduleIds.filter((id) => !id.startsWith('\0'));
  return { code: file.code, modules };
}

export const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license: string;
    author?: string;
    dependencies?: Record<string, string>;
  };
