import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { quoteForShell } from '../hooks/script.ts';

/** What to tell where others may write to the state folder: they would choose what runs. */
export function findOpenFolder(context: Pick<Context, 'variables' | 'home' | 'platform'>): Failure | undefined {
  const state = stateFolder(context);
  const mode = statSync(state, { throwIfNoEntry: false })?.mode ?? 0;
  if (context.platform === 'win32' || (mode & 0o022) === 0) return undefined;
  return new Failure(
    EXIT.failure,
    `Others may write to ${state}, and choose what runs as you.`,
    `chmod go-w ${quoteForShell(state)}   # or set CAPTURE_HOME to another folder`,
  );
}

/** Throws what `findOpenFolder` finds. */
export function refuseOpenFolder(context: Pick<Context, 'variables' | 'home' | 'platform'>): void {
  const open = findOpenFolder(context);
  if (open) throw open;
}

/** What is in the state folder and nobody else's: somebody may have set CAPTURE_HOME to a folder with other things. */
const OWN = [
  /^(?:accounts|config|history|preferences|setup|skipped)\.json(?:\.new)?$/,
  /^decisions\.db(?:-wal|-shm|\.corrupt-.*)?$/,
  /^spool(?:-[0-9a-f]{16})?\.[\w.:-]+$/,
  /^(?:redaction|daemon)\.[\w.:-]+$/,
  /^(?:inbox|run|daemon|setup|upload)\.lock(?:-journal)?$/,
  /^(?:homes|inbox|sessions)$/,
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
