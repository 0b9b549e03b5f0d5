import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../../contract/quote.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';

/** The warning where other users may write to the state folder: they could choose the program that runs. */
export function findOpenFolder(context: Pick<Context, 'variables' | 'home' | 'platform'>): Failure | undefined {
  const state = stateFolder(context);
  const mode = statSync(state, { throwIfNoEntry: false })?.mode ?? 0;
  if (context.platform === 'win32' || (mode & 0o022) === 0) return undefined;
  return new Failure(
    EXIT.failure,
    `${state} is writable by other users, who could run code as you.`,
    `chmod go-w ${shellWord(state)}   # or set CAPTURE_HOME to another folder`,
  );
}

/** Throws what `findOpenFolder` finds. */
export function refuseOpenFolder(context: Pick<Context, 'variables' | 'home' | 'platform'>): void {
  const open = findOpenFolder(context);
  if (open) throw open;
}

/** The names of capture's own files. CAPTURE_HOME may be a folder that holds other things too. */
const OWN = [
  /^(?:config|history|preferences|setup|skipped)\.json$/,
  /^\.session-capture-[0-9a-f]{12}\.tmp$/,
  /^task\.xml$/,
  /^decisions\.db(?:-wal|-shm|\.corrupt-.*)?$/,
  /^spool(?:-[0-9a-f]{16})?\.[\w.:-]+$/,
  /^(?:redaction|daemon)\.[\w.:-]+$/,
  /^(?:inbox|run|daemon|setup|upload)\.lock(?:-journal)?$/,
  /^(?:accounts|homes|inbox|sessions)$/,
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
