import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { quoteForShell } from '../hooks/script.ts';
import { type Lock, takeLock } from '../lock.ts';

/** What is wrong with a state folder that others may write to, and what to do about it: they would choose what runs. */
export function findOpenFolder(
  context: Pick<Context, 'variables' | 'home' | 'platform'>,
): { sentence: string; fix: string } | undefined {
  const state = stateFolder(context);
  const mode = statSync(state, { throwIfNoEntry: false })?.mode ?? 0;
  if (context.platform === 'win32' || (mode & 0o022) === 0) return undefined;
  return {
    sentence: `Others may write to ${state}, and choose what runs as you.`,
    fix: `chmod go-w ${quoteForShell(state)}`,
  };
}

/** Throws a `Failure` where others may write to the state folder. */
export function refuseOpenFolder(context: Pick<Context, 'variables' | 'home' | 'platform'>): void {
  const open = findOpenFolder(context);
  if (open === undefined) return;
  throw new Failure(
    EXIT.failure,
    open.sentence,
    `Close it to them, \`${open.fix}\`, or set CAPTURE_HOME to another folder.`,
  );
}

/** One `init` or `uninstall` at a time. Throws a `Failure` while another is at work. */
export function takeSetup(context: Pick<Context, 'variables' | 'home'>): Lock {
  const lock = takeLock(stateFolder(context), 'setup');
  if (lock) return lock;
  throw new Failure(
    EXIT.temporary,
    'Another `capture init` or `uninstall` is at work.',
    'Run it again when it is done.',
  );
}

/** What is in the state folder and nobody else's: somebody may have set CAPTURE_HOME to a folder with other things. */
const OWN = [
  /^(?:accounts|config|history|preferences|setup|skipped)\.json(?:\.new)?$/,
  /^spool(?:-[0-9a-f]{16})?\.[\w.:-]+$/,
  /^(?:redaction|daemon)\.[\w.:-]+$/,
  /^(?:inbox|run|daemon|setup|upload)\.lock(?:-journal)?$/,
  /^(?:bin|homes|hooks|inbox|notes|sessions)$/,
];

/** Deletes all of capture's own in the state folder, and the folder if nothing else is in it; true if it is gone. */
export function purge(state: string): boolean {
  for (const name of list(state)) {
    if (OWN.some((pattern) => pattern.test(name))) rmSync(join(state, name), { recursive: true, force: true });
  }
  if (list(state).length === 0) rmSync(state, { recursive: true, force: true });
  return !existsSync(state);
}

const list = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
