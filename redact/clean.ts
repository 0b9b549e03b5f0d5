import type { Scopes, ValueIndex } from './value-index.ts';

/** Letters of all texts together: one or two megabytes. */
const MOST_LETTERS = 1024 * 1024;
/** Letters. A longer one is seldom met again, and would leave little room for others. */
const LONGEST = 128 * 1024;

/**
 * Texts in which nothing was found. Six of seven texts of a transcript are met again soon, such as ids, paths, names and
 * the output that a record holds twice: two fifths of all letters. What is learned meanwhile may be in them, so it begins
 * anew with each new value and for each session.
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
    /** The scopes and values of the last call. */
    add(text: string): void {
      if (text.length > LONGEST) return;
      letters += text.length;
      if (letters > MOST_LETTERS) clear();
      texts.add(text);
    },
  };
}
