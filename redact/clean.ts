import type { Scopes, ValueIndex } from './value-index.ts';

/** The most letters of all texts together: one or two megabytes. */
const MAX_LETTERS = 1024 * 1024;
/** The most letters of one text. Longer texts rarely repeat, and would leave little room for others. */
const LONGEST = 128 * 1024;

/**
 * Texts without secrets. Six of seven texts of a transcript repeat soon, such as ids, paths, names and output that a record
 * contains twice: two fifths of all letters. A clean text may contain a value that is learned later. So the set is emptied with
 * each new value and for each session.
 */
export function createCleanTexts(index: Pick<ValueIndex, 'version'>) {
  const texts = new Set<string>();
  let letters = 0;
  let of: { scopes: Scopes; size: number; version: number } | undefined;

  function clear(): void {
    texts.clear();
    letters = 0;
  }

  return {
    has(text: string, scopes: Scopes): boolean {
      const version = index.version();
      if (of?.scopes !== scopes || of.size !== scopes.size || of.version !== version) {
        of = { scopes, size: scopes.size, version };
        clear();
      }
      return texts.has(text);
    },
    /** Remembers a text for the scopes and values of the last call. */
    add(text: string): void {
      if (text.length > LONGEST) return;
      letters += text.length;
      if (letters > MAX_LETTERS) clear();
      texts.add(text);
    },
  };
}
