import { hash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { removeEntries } from './edit.ts';
import { followLinks, readFile, removeEmpty, replaceFile } from './file.ts';
import type { Edited } from './install.ts';
import { isOursOn } from './script.ts';

/** What versions up to 0.1 noted of a file that they changed: a digest of what they wrote, and the bytes from before. */
interface Deed {
  path: string;
  written: string;
  /** In Base64; absent where there was no file. */
  original?: string;
  folders?: string[];
}

/** Takes back what earlier versions put into the settings of every agent, as far as nobody has changed that since. */
export function removeEarlierHooks(context: Pick<Context, 'variables' | 'home' | 'platform'>): Edited[] {
  const folder = join(stateFolder(context), 'hooks');
  return listNotes(folder).flatMap((name) => {
    const note = join(folder, name);
    // What is noted as the daemon's is the supervisor's file, which is still in use.
    const undone = name === 'daemon.json' ? [] : readDeeds(note).map((deed) => undo(context, deed));
    if (undone.every(({ change }) => change !== 'left')) rmSync(note);
    return undone.filter(({ change }) => change !== 'none');
  });
}

function undo(context: Pick<Context, 'variables' | 'home' | 'platform'>, deed: Deed): Edited {
  const { path, written, original, folders = [] } = deed;
  try {
    const bytes = readFile(path);
    if (bytes === undefined) return { path, change: 'none' };
    if (hash('sha256', bytes) === written) {
      if (original !== undefined) replaceFile(path, Buffer.from(original, 'base64'), 0o600);
      else rmSync(followLinks(path));
      removeEmpty(folders);
      return { path, change: original === undefined ? 'removed' : 'restored' };
    }
    // Codex's notes of what it trusted are of no effect without the hooks.
    if (path.endsWith('config.toml')) return { path, change: 'none' };
    const text = bytes.toString('utf8');
    const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
    const without = mark + removeEntries(text.slice(mark.length), isOursOn(context));
    if (without === text) return { path, change: 'none' };
    replaceFile(path, without, 0o600);
    return { path, change: 'cleaned' };
  } catch (error) {
    return { path, change: 'left', reason: describe(error) };
  }
}

function listNotes(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  } catch {
    return [];
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
