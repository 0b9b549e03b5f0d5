import { hash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, stateFolder } from '../config.ts';
import { describe } from '../failure.ts';
import { readFile, removeEmpty } from './file.ts';
import { type Edited, takeBack } from './install.ts';
import type { Where } from './script.ts';

/** What versions up to 0.1 noted of a file that they changed: a digest of what they wrote, and the bytes from before. */
interface Deed {
  path: string;
  written: string;
  /** In Base64; absent where there was no file. */
  original?: string;
  folders?: string[];
}

/** Takes back what earlier versions put into the settings of every agent, as far as nobody has changed that since. */
export function removeEarlierHooks(context: Where): Edited[] {
  const folder = join(stateFolder(context), 'hooks');
  const notes = existsSync(folder) ? readdirSync(folder).filter((name) => /^[^.].*\.json$/.test(name)) : [];
  return notes.flatMap((name) => {
    // What is noted as the daemon's is the supervisor's file, which is still in use.
    const deeds = name === 'daemon.json' ? [] : readDeeds(join(folder, name));
    const undone = deeds.map((deed) => undo(context, deed));
    if (undone.every(({ change }) => change !== 'left')) rmSync(join(folder, name));
    return undone.filter(({ change }) => change !== 'none');
  });
}

function undo(context: Where, { path, written, original, folders = [] }: Deed): Edited {
  try {
    const bytes = readFile(path);
    const isAsWritten = bytes !== undefined && hash('sha256', bytes) === written;
    // Codex's notes of what it trusted are of no effect without the hooks.
    if (!isAsWritten && path.endsWith('config.toml')) return { path, change: 'none' };
    const before = original === undefined ? undefined : Buffer.from(original, 'base64');
    const edited = takeBack(context, path, before, isAsWritten);
    if (isAsWritten) removeEmpty(folders);
    return edited;
  } catch (error) {
    return { path, change: 'left', reason: describe(error) };
  }
}

/** Notes that cannot be read are as good as gone: the hooks themselves do nothing without their script. */
function readDeeds(note: string): Deed[] {
  try {
    return readJson<{ deeds?: Deed[] }>(note)?.deeds ?? [];
  } catch {
    return [];
  }
}
