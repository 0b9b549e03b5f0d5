import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';

type Where = Pick<Context, 'variables' | 'home' | 'platform' | 'program'>;

/** How the daemon is started in a year, too. */
export interface LastingProgram {
  /** As in the context, by paths that last. */
  program: readonly string[];
  /** What is copied to one of them, since it goes where it is. */
  copies: readonly { from: string; to: string }[];
  /** What may go where it is and cannot be copied: a clone. */
  fleeting?: string;
}

/** Caches that are emptied: of npx, `pnpm dlx` and bunx; and what fnm makes for a single shell. */
const CACHES = /[\\/](?:_npx|dlx|dlx-[^\\/]+|bunx-[^\\/]+|fnm_multishells)[\\/]/;
const TEMPORARY = ['/tmp', '/var/tmp', '/var/folders', '/dev/shm', '/run'];
/** The bundle is all in one file. */
const BUNDLE = 'capture.js';

/** Finds how to run this program by paths that last, and copies nothing yet. */
export function planProgram(context: Where): LastingProgram {
  const bin = join(stateFolder(context), 'bin');
  const ending = context.platform === 'win32' ? '.exe' : '';
  const copies: { from: string; to: string }[] = [];
  let fleeting: string | undefined;
  const program = context.program.map((path, index) => {
    const file = realPath(path);
    // A link that lasts is better: it goes on to what a package manager puts in the place of the file.
    if (!isFleeting(path, context)) return file === path ? spellForHomebrew(path) : path;
    if (!isFleeting(file, context)) return file;
    const isScript = index > 0;
    if (isScript && basename(file) !== BUNDLE) {
      fleeting = file;
      return file;
    }
    // As `.cjs`: whatever a package.json above the home says, it is no module.
    const name = isScript ? 'capture.cjs' : `${context.program.length > 1 ? 'node' : 'capture'}${ending}`;
    copies.push({ from: file, to: join(bin, name) });
    return join(bin, name);
  });
  // With a clone goes what its Node would run.
  return fleeting === undefined ? { program, copies } : { program: context.program, copies: [], fleeting };
}

/** The context of what starts the daemon. */
export const withLastingProgram = <Given extends Where>(context: Given): Given => ({
  ...context,
  program: planProgram(context).program,
});

/** Copies are replaced in one step: a daemon may be running from them. */
export function copyProgram({ copies }: LastingProgram): void {
  for (const { from, to } of copies) {
    mkdirSync(join(to, '..'), { recursive: true, mode: 0o700 });
    const temporary = `${to}.new`;
    rmSync(temporary, { force: true });
    copyFileSync(from, temporary);
    chmodSync(temporary, 0o755);
    renameSync(temporary, to);
  }
}

/** Takes away what `copyProgram` made. */
export function removeCopies(state: string): void {
  for (const name of ['capture', 'capture.exe', 'capture.cjs', 'node', 'node.exe']) {
    rmSync(join(state, 'bin', name), { force: true });
  }
}

export function describeProgram({ copies, fleeting }: LastingProgram): string[] {
  const copied = copies.map(({ from, to }) => `${from} is in a temporary place. The daemon runs from a copy, ${to}.`);
  const renewal = 'Run `capture init` again after an update, or install capture to stay and run it then.';
  return [
    ...(copied.length > 0 ? [...copied, renewal] : []),
    ...(fleeting
      ? [
          `The daemon runs from a clone in a temporary place, ${fleeting}. Once that is gone, nothing is captured: move ` +
            'the clone to where it can stay, and run `capture init` from there.',
        ]
      : []),
  ];
}

/** A copy in the state folder stays, wherever that folder is. */
function isFleeting(path: string, context: Where): boolean {
  if (path.startsWith(join(realPath(stateFolder(context)), sep)) || path.startsWith(join(stateFolder(context), sep))) {
    return false;
  }
  const { TMPDIR = '', TEMP = '', TMP = '' } = context.variables;
  const folders = [TMPDIR, TEMP, TMP, ...TEMPORARY].filter((folder) => folder !== '');
  return CACHES.test(path) || folders.flatMap((at) => [at, realPath(at)]).some((at) => path.startsWith(join(at, sep)));
}

/** `…/Cellar/node/24.1.0/bin/node` goes with the next update, `…/opt/node/bin/node` stays. */
function spellForHomebrew(path: string): string {
  const lasting = path.replace(/\/Cellar\/([^/]+)\/[^/]+\//, '/opt/$1/');
  return existsSync(lasting) ? lasting : path;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
