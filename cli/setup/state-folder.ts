import { statSync } from 'node:fs';
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
