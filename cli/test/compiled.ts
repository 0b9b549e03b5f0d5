import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/** Programs that end by themselves once they have loaded all they are made of. */
const PROGRAMS = [
  ['cli/main.ts', '--version'],
  ['server/main.ts', '--version'],
];

/**
 * Has Node keep, once, what it compiles of the programs that tests start. One that a test kills keeps nothing, and those
 * are most of them.
 */
export default async function compilePrograms({ config }: TestProject): Promise<void> {
  const { NODE_COMPILE_CACHE = '' } = config.env;
  if (existsSync(NODE_COMPILE_CACHE)) return;
  const env = { ...process.env, NODE_COMPILE_CACHE, PORT: 'none' };
  const ended = PROGRAMS.map(([path = '', ...args]) =>
    once(spawn(process.execPath, [join(config.root, path), ...args], { env, stdio: 'ignore' }), 'exit'),
  );
  await Promise.all(ended);
}
