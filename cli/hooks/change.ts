import { createTwoFilesPatch } from 'diff';
import { codeOf, describe } from '../failure.ts';
import type { HookFile, MergedFile, OwnFile } from './agent-hooks.ts';
import { Unparsable } from './document.ts';
import { type CurrentFile, readCurrent } from './file.ts';
import { type Deed, digestOf } from './ledger.ts';
import { type IsOurs, type Made, mergeHooks } from './merge.ts';

/** What is to become of one file. */
export interface Change extends CurrentFile {
  kind: HookFile['kind'];
  /** Equal to `bytes` where nothing is to change. */
  after: Buffer;
  mode: number;
  made: Made[];
}

/** A file that is left alone, and what a person could do by hand. */
export interface Refusal {
  /** Cannot be edited, or is somebody else's. */
  kind: 'unparsable' | 'foreign';
  path: string;
  /** Goes on after the path: `… because <reason>`. */
  reason: string;
  /** What would have to stand in the file. */
  snippet: string;
}

export const isChange = (planned: Change | Refusal): planned is Change => !('reason' in planned);

export const isSame = ({ bytes, after }: Pick<Change, 'bytes' | 'after'>): boolean => bytes?.equals(after) === true;

/** Plans one file; writes nothing. `earlier` is what was done to it before. */
export function planFile(file: HookFile, isOurs: IsOurs, earlier: Deed | undefined): Change | Refusal {
  try {
    const current = readCurrent(file.path);
    return file.kind === 'merged' ? planMerge(file, current, isOurs) : planOwn(file, current, earlier);
  } catch (error) {
    if (!(error instanceof Unparsable) && codeOf(error) === undefined) throw error;
    const reason = error instanceof Unparsable ? error.message : `it cannot be read (${describe(error)})`;
    const snippet = file.kind === 'merged' ? mergeHooks('', file, isOurs).text : file.content;
    return { kind: 'unparsable', path: file.path, reason, snippet };
  }
}

function planOwn(file: OwnFile, current: CurrentFile, earlier: Deed | undefined): Change | Refusal {
  const { bytes } = current;
  const isAsWritten = bytes !== undefined && earlier?.written === digestOf(bytes);
  const isNew = bytes === undefined || (earlier === undefined && bytes.includes(file.marker));
  if (!isNew && !isAsWritten && bytes.toString('utf8') !== file.content) {
    const reason = earlier
      ? 'it was changed since we made it'
      : 'it is not ours, and there can be one of this name only';
    return { kind: 'foreign', path: file.path, reason, snippet: file.content };
  }
  return { ...current, kind: 'own', after: Buffer.from(file.content), mode: file.mode, made: [] };
}

function planMerge(file: MergedFile, current: CurrentFile, isOurs: IsOurs): Change {
  const { mark, text } = decode(current.bytes ?? Buffer.alloc(0));
  const merged = mergeHooks(text, file, isOurs);
  return { ...current, kind: 'merged', after: Buffer.from(mark + merged.text), mode: 0o600, made: merged.made };
}

/** Text and byte order mark of a file. Throws `Unparsable` for bytes that would not come out as they went in. */
export function decode(bytes: Buffer): { mark: string; text: string } {
  const whole = bytes.toString('utf8');
  if (!Buffer.from(whole).equals(bytes)) throw new Unparsable('it is not text in UTF-8');
  const mark = whole.startsWith('\ufeff') ? '\ufeff' : '';
  return { mark, text: whole.slice(mark.length) };
}

/** The change as `diff -u` shows it, with secrets masked; empty where nothing changes. */
export function formatDiff(change: Change, mask: (text: string) => string): string {
  const { path, target, bytes, after } = change;
  if (isSame(change)) return '';
  const name = target === path ? path : `${path} (${target})`;
  const patch = createTwoFilesPatch(bytes ? name : '/dev/null', name, show(bytes), show(after));
  // The first lines repeat the name and underline it.
  return patch.slice(patch.indexOf('--- '));

  function show(text: Buffer | undefined): string {
    return text === undefined ? '' : mask(text.toString('utf8'));
  }
}
