import { accessSync, constants, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellWord } from '../../contract/quote.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { codeOf, EXIT, Failure } from '../failure.ts';

/** Warns if other users may write to the state folder, because they could replace the program that runs. */
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

/** Throws the result of `findOpenFolder`. */
export function refuseOpenFolder(context: Pick<Context, 'variables' | 'home' | 'platform'>): void {
  const open = findOpenFolder(context);
  if (open) throw open;
}

/**
 * The problem if this person may not write to the state folder or a database in it, for instance after `sudo capture`. If the
 * folder does not exist yet, its nearest existing parent counts.
 */
export function findUnwritable(state: string): Failure | undefined {
  let folder = state;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  for (const path of writtenPaths(folder, state)) {
    const code = refusalOf(path, path === folder);
    if (code === undefined) continue;
    const sentence = `${path} cannot be written to (${code}), so nothing is captured.`;
    return new Failure(EXIT.failure, sentence, howToOwn(folder, path, code));
  }
  return undefined;
}

const DATABASE = /^(?:decisions|spool(?:-[0-9a-f]{16})?)\.db(?:-wal|-shm)?$/;

/** The paths come one by one, because the second exists only if the first is a folder. */
function* writtenPaths(folder: string, state: string): Generator<string> {
  yield folder;
  for (const name of list(state)) if (DATABASE.test(name)) yield join(state, name);
}

/** The system's code for why a path is not writable. */
function refusalOf(path: string, isFolder: boolean): string | undefined {
  try {
    if (isFolder && !statSync(path).isDirectory()) return 'ENOTDIR';
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    // SQLite has removed the file meanwhile.
    return code === 'ENOENT' ? undefined : (code ?? 'unknown');
  }
}

function howToOwn(folder: string, path: string, code: string): string {
  if (code === 'EROFS') return 'Its disk is mounted read-only: set CAPTURE_HOME to a folder on another one.';
  if (code === 'ENOTDIR') return 'It is not a folder: move it, or set CAPTURE_HOME to another folder.';
  const isOwn = statSync(path).uid === process.getuid?.();
  return isOwn ? `chmod -R u+rwX ${shellWord(folder)}` : `sudo chown -R "$(id -u)" ${shellWord(folder)}`;
}

/** The names of capture's own files. CAPTURE_HOME may be a folder with other files too. */
const OWN = [
  /^(?:config|history|preferences|setup|skipped)\.json$/,
  /^\.session-capture-[0-9a-f]{12}\.tmp$/,
  /^task\.xml$/,
  /^decisions\.db(?:-wal|-shm|\.corrupt-.*)?$/,
  /^spool(?:-[0-9a-f]{16})?\.[\w.:-]+$/,
  /^(?:redaction|daemon|evidence)\.[\w.:-]+$/,
  /^(?:inbox|run|daemon|setup|upload)\.lock(?:-journal)?$/,
  /^(?:accounts|homes|inbox|sessions)$/,
];

/** Deletes all files of capture in the state folder, and the folder if it is then empty. Returns true if the folder is gone. */
export function purge(state: string): boolean {
  for (const name of list(state)) {
    if (OWN.some((pattern) => pattern.test(name))) rmSync(join(state, name), { recursive: true, force: true });
  }
  if (list(state).length === 0) rmSync(state, { recursive: true, force: true });
  return !existsSync(state);
}

const list = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
