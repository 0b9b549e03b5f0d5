import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../failure.ts';
import { formatCount } from '../output.ts';

/** What is in the state folder and nobody else's: somebody may have set CAPTURE_HOME to a folder with other things. */
const OWN = [
  /^(?:accounts|config|preferences|setup|skipped)\.json(?:\.new)?$/,
  /^(?:spool|redaction|daemon)\.[\w.:-]+$/,
  /^(?:inbox|run|upload)\.lock(?:-journal)?$/,
  /^(?:bin|homes|hooks|inbox|notes|paused|sessions)$/,
];

/** What `capture uninstall` leaves in the state folder, each with where it is. */
export function listRemains(state: string): string[] {
  const unread = countFiles(join(state, 'inbox'));
  const told = countFiles(join(state, 'sessions'));
  const remains: [isThere: boolean, what: string, name: string][] = [
    [true, 'what was captured and not sent yet, and up to where each transcript was read', 'spool.db'],
    [unread > 0, `${formatCount(unread, 'message')} that hooks left and nobody read`, 'inbox'],
    [told > 0, "what Cursor's hooks told, with the secrets in it", 'sessions'],
    [true, 'the sign-in', 'config.json'],
    [true, 'your preferences', 'preferences.json'],
  ];
  return remains.flatMap(([isThere, what, name]) => {
    const path = join(state, name);
    return isThere && existsSync(path) ? [`${what} (${path})`] : [];
  });
}

/** Deletes all of capture's own in the state folder, and the folder if nothing else is in it; true if it is gone. */
export function purge(state: string): boolean {
  for (const name of list(state)) {
    if (OWN.some((pattern) => pattern.test(name))) rmSync(join(state, name), { recursive: true, force: true });
  }
  try {
    rmdirSync(state);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(codeOf(error) ?? '')) throw error;
  }
  return !existsSync(state);
}

const countFiles = (folder: string): number =>
  list(folder).reduce((count, name) => count + list(join(folder, name)).length, 0);

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
