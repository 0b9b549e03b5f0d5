import { existsSync, realpathSync } from 'node:fs';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';

/** Caches that get emptied: of npx, `pnpm dlx` and bunx. Also fnm's folder for a single shell. */
const CACHES = /[\\/](?:_npx|dlx|dlx-[^\\/]+|bunx-[^\\/]+|fnm_multishells)[\\/]/;

/**
 * A command that will still start the daemon in a year: its paths last. A lasting link is better than its target, which a
 * package manager replaces. Throws a `Failure` if the program is in a cache.
 */
export const lastingProgram = ({ program }: Pick<Context, 'program'>): string[] =>
  program.map((path) => {
    const file = existsSync(path) ? realpathSync(path) : path;
    if (!CACHES.test(path)) return file === path ? spellForHomebrew(path) : path;
    if (!CACHES.test(file)) return file;
    throw new Failure(
      EXIT.failure,
      `This program is in a cache that gets emptied: ${file}.`,
      'Install capture permanently, for instance with the line on the page /welcome of your service, and then run `capture init`.',
    );
  });

/** The next update removes `…/Cellar/node/24.1.0/bin/node`, but `…/opt/node/bin/node` stays. */
function spellForHomebrew(path: string): string {
  const lasting = path.replace(/\/Cellar\/([^/]+)\/[^/]+\//, '/opt/$1/');
  return existsSync(lasting) ? lasting : path;
}
