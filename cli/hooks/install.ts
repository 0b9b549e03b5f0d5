import { rmSync } from 'node:fs';
import { EXIT, Failure } from '../failure.ts';
import { type Change, decode, isSame } from './change.ts';
import { Unparsable } from './document.ts';
import { readBytes, readCurrent, removeEmptyFolders, replaceFile } from './file.ts';
import { type Deed, digestOf, findDeed, readLedger, removeDeed, writeDeed } from './ledger.ts';
import { type IsOurs, unmergeHooks } from './merge.ts';

/** Takes ours out of a file that others have changed; undefined where nothing is left of one we made. May throw `Unparsable`. */
export type TakeOut = (bytes: Buffer, deed: Pick<Deed, 'made' | 'original'>) => Buffer | undefined;

export interface Books {
  /** The folder of capture's own state. */
  state: string;
  /** Whose files these are: an agent's id, or what else is set up. */
  owner: string;
  takeOut: TakeOut;
}

/** Writes a planned change. What was there before is in the ledger first. */
export function applyChange(change: Change, { state, owner, takeOut }: Books): void {
  if (isSame(change)) return;
  const { path, target, bytes, after, made } = change;
  if (!isEqual(readBytes(target), bytes)) {
    throw new Failure(EXIT.temporary, `${path} has changed meanwhile, so it was left alone.`, 'Run the command again.');
  }
  const earlier = findDeed(readLedger(state, owner), path);
  const original = change.kind === 'own' ? undefined : findOriginal(bytes, earlier, takeOut);
  const deed: Deed = {
    path,
    written: digestOf(after),
    ...(original && { original: original.toString('base64') }),
    made: [...(earlier?.made ?? []), ...made],
    folders: earlier?.folders ?? [],
  };
  writeDeed(state, owner, deed);
  const folders = replaceFile(target, after, change.mode);
  if (folders.length > 0) writeDeed(state, owner, { ...deed, folders: [...deed.folders, ...folders] });
}

/**
 * What the file is without us. That is what was kept, if nobody has changed the file since; else what is there now, less
 * what is ours.
 */
export function findOriginal(
  bytes: Buffer | undefined,
  earlier: Deed | undefined,
  takeOut: TakeOut,
): Buffer | undefined {
  if (bytes === undefined) return undefined;
  if (earlier?.written === digestOf(bytes)) return originalOf(earlier);
  return takeOut(bytes, { original: '', made: earlier?.made ?? [] });
}

const originalOf = ({ original }: Deed): Buffer | undefined =>
  original === undefined ? undefined : Buffer.from(original, 'base64');

/** What is to become of a file when ours is taken out of it. */
export interface Restoration {
  deed: Deed;
  path: string;
  target: string;
  bytes: Buffer | undefined;
  /** Undefined where the file goes. */
  after: Buffer | undefined;
  /** Whether it becomes what it was, byte for byte. */
  isExact: boolean;
  /** Why the file is left alone. */
  reason?: string;
}

/** Byte for byte as it was, if nobody else has changed it since; else without what is ours. Writes nothing. */
export function planRestoration(deed: Deed, takeOut: TakeOut): Restoration {
  const current = { ...readCurrent(deed.path), deed, isExact: false };
  const { bytes } = current;
  if (bytes === undefined) return { ...current, after: undefined };
  if (digestOf(bytes) === deed.written) return { ...current, after: originalOf(deed), isExact: true };
  try {
    return { ...current, after: takeOut(bytes, deed) };
  } catch (error) {
    if (!(error instanceof Unparsable)) throw error;
    return { ...current, after: bytes, reason: error.message };
  }
}

export const takeOutHooks =
  (isOurs: IsOurs): TakeOut =>
  (bytes, { made, original }) => {
    const { mark, text } = decode(bytes);
    const without = unmergeHooks(text, made, isOurs);
    return original === undefined && isEmpty(without, made) ? undefined : Buffer.from(mark + without);
  };

/** For a file that was all ours. */
export const takeOutNothing: TakeOut = () => {
  throw new Unparsable('it was changed since we made it');
};

/** Whether there is nothing but members that we made. */
function isEmpty(text: string, made: Deed['made']): boolean {
  const ours = new Set(made.filter(({ length }) => length === 1).flat());
  try {
    const { hooks, ...others } = JSON.parse(text) as { [name: string]: unknown };
    return hooks === undefined && Object.keys(others).every((name) => ours.has(name));
  } catch {
    return false;
  }
}

export function applyRestoration(
  { deed, path, target, bytes, after, reason }: Restoration,
  { state, owner }: Pick<Books, 'state' | 'owner'>,
): void {
  if (reason !== undefined) return;
  if (after === undefined) rmSync(target, { force: true });
  else if (!isEqual(bytes, after)) replaceFile(target, after, 0o600);
  removeEmptyFolders(deed.folders);
  removeDeed(state, owner, path);
}

const isEqual = (one: Buffer | undefined, other: Buffer | undefined): boolean =>
  one === undefined || other === undefined ? one === other : one.equals(other);
