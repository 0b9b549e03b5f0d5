/*
 * Cuts texts into words, in the same way for the index, queries and highlights. A word is a run of letters and digits. An
 * identifier is also cut by case: `getUserById` is get, user, by, id. In writing without spaces, such as Chinese, each
 * character is a word.
 */

/** The class of a code unit; `UNKNOWN` until it is computed. */
export const UNKNOWN = 0;
export const OUTSIDE = 1;
export const LOWER = 2;
export const UPPER = 3;
/** Digits, marks, and letters without case. */
export const PLAIN = 4;
/** Written without spaces between words. */
export const DENSE = 5;

const DENSE_SCRIPTS = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}ー]/u;

function classify(character: string): number {
  if (!/[\p{L}\p{N}\p{M}]/u.test(character)) return OUTSIDE;
  if (DENSE_SCRIPTS.test(character)) return DENSE;
  if (/\p{Lu}/u.test(character)) return UPPER;
  return /\p{Ll}/u.test(character) ? LOWER : PLAIN;
}

/** By code unit. Surrogates stay unknown, because their class depends on the other half. */
export const CLASSES = new Uint8Array(65_536);

export function classAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const known = CLASSES[unit] as number;
  if (known !== UNKNOWN) return known;
  const isSecond = unit >= 0xdc00 && unit <= 0xdfff && at > 0 && isHigh(text.charCodeAt(at - 1));
  const found = classify(String.fromCodePoint(text.codePointAt(isSecond ? at - 1 : at) as number));
  if (unit < 0xd800 || unit > 0xdfff) CLASSES[unit] = found;
  return found;
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;

/**
 * Called for each identifier, and each character of writing without spaces.
 * @param cuts where it begins, is cut and ends; the array is reused
 * @returns false to stop
 */
type Take = (cuts: readonly number[], isDense: boolean) => boolean;

/** Calls `take` for each identifier of a text, from an index on. */
export function cutText(text: string, from: number, take: Take): void {
  const cuts: number[] = [];
  for (let at = from; at < text.length; ) {
    const kind = classAt(text, at);
    if (kind === OUTSIDE) {
      at++;
      continue;
    }
    cuts.length = 0;
    cuts.push(at);
    if (kind === DENSE) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
    else at = cutIdentifier(text, at, cuts);
    cuts.push(at);
    if (!take(cuts, kind === DENSE)) return;
  }
}

/**
 * Longer identifiers are cut here, so that finding the identifier around an index costs the same in any text. Such identifiers
 * are random anyway.
 */
export const MAX_IDENTIFIER = 256;

/** @returns where the identifier ends */
export function cutIdentifier(text: string, start: number, cuts: number[]): number {
  const most = outsidePair(text, Math.min(text.length, start + MAX_IDENTIFIER));
  let last = start;
  let previous = PLAIN;
  let lastCase = PLAIN;
  for (let at = start; at < most; at++) {
    const kind = classAt(text, at);
    if (kind === OUTSIDE || kind === DENSE) return at;
    // `HTMLParser`: the last capital belongs to the next word.
    const cut =
      kind === UPPER && lastCase === LOWER
        ? at
        : kind === LOWER && previous === UPPER
          ? outsidePair(text, at - 1)
          : last;
    if (cut > last) cuts.push(cut);
    last = cut;
    if (kind !== PLAIN) lastCase = kind;
    previous = kind;
  }
  return most;
}

/** The index, or the one before it if it is in the middle of a surrogate pair. */
export const outsidePair = (text: string, at: number): number =>
  at > 0 && (text.codePointAt(at - 1) as number) > 0xffff ? at - 1 : at;

/** The start of the identifier around an index, or the index itself. */
export function identifierStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && at - start < MAX_IDENTIFIER && isInside(classAt(text, start - 1))) start--;
  return start;
}

const isInside = (kind: number) => kind === LOWER || kind === UPPER || kind === PLAIN;

/** The text in lower case, with each letter at its index. */
export function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  // `İ` would become two code units.
  return lower.length === text.length ? lower : text.replace(/./gsu, sameLength);
}

function sameLength(character: string): string {
  const lower = character.toLowerCase();
  return lower.length === character.length ? lower : character;
}
