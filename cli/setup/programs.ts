import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Context } from '../context.ts';
import { execute } from './execute.ts';

/** Agents in JavaScript take a second to say their version, on a busy machine several. */
const VERSION_MS = 15_000;

/** The absolute path of the first of these programs that PATH has. */
export function findProgram(
  { variables, platform }: Pick<Context, 'variables' | 'platform'>,
  names: readonly string[],
): string | undefined {
  const folders = (variables.PATH ?? variables.Path ?? '').split(delimiter).filter(isAbsolute);
  const endings = platform === 'win32' ? ['.exe', '.cmd'] : [''];
  const candidates = names.flatMap((name) =>
    folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending))),
  );
  return candidates.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** What a program answers to `--version`, such as `2.1.260`. */
export async function readVersion(
  context: Pick<Context, 'spawn' | 'variables' | 'home'>,
  program: string,
): Promise<string | undefined> {
  const { exitCode, output } = await execute(context, [program, '--version'], VERSION_MS);
  return exitCode === 0 ? /\d+(\.\d+)+([+-][\w.+-]*\w)?/.exec(output)?.[0].slice(0, 64) : undefined;
}
