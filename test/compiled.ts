import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/** Fills Node's compile cache once for the command line that tests start. */
export default async function compileCommandLine({ config }: TestProject): Promise<void> {
  const { NODE_COMPILE_CACHE = '' } = config.env;
  if (!existsSync(NODE_COMPILE_CACHE)) await keepCompiled(NODE_COMPILE_CACHE, join(config.root, 'cli/main.ts'));
}

/**
 * Runs the program until it has loaded all its modules and ends by itself. Node writes the cache only on a normal exit, and tests
 * kill most of their processes.
 */
export async function keepCompiled(folder: string, program: string): Promise<void> {
  const env = { ...process.env, NODE_COMPILE_CACHE: folder, PORT: 'none' };
  await once(spawn(process.execPath, [program, '--version'], { env, stdio: 'ignore' }), 'exit');
}
