import { existsSync, realpathSync } from 'node:fs';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';

/** Caches that are emptied: of npx, `pnpm dlx` and bunx; and what fnm makes for a single shell. */
const CACHES = /[\\/](?:_npx|dlx|dlx-[^\\/]+|bunx-[^\\/]+|fnm_multishells)[\\/]/;

/**
 * How the daemon is started in a year, too: by paths that last. A link that lasts is better than where it leads, which a
 * package manager replaces. Throws a `Failure` where the program lies in a cache.
 */
export const lastingProgram = ({ program }: Pick<Context, 'program'>): string[] =>
  program.map((path) => {
    const file = existsSync(path) ? realpathSync(path) : path;
    if (!CACHES.test(path)) return file === path ? spellForHomebrew(path) : path;
    if (!CACHES.test(file)) return file;
    throw new Failure(
      EXIT.failure,
      `This program lies in a cache that gets emptied: ${file}.`,
      'Install capture to stay, as docs/install.md says, and run `capture init` then.',
    );
  });

/** `…/Cellar/node/24.1.0/bin/node` goes with the next update, `…/opt/node/bin/node` stays. */
function spellForHomebrew(path: string): string {
  const lasting = path.replace(/\/Cellar\/([^/]+)\/[^/]+\//, '/opt/$1/');
  return existsSync(lasting) ? lasting : path;
}
