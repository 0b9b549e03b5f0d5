import { hashOf, mixOne, mixOther, SEED_ONE, SEED_OTHER, type Signature } from '../store/signature.ts';
import {
  CLASSES,
  classAt,
  cutIdentifier,
  DENSE,
  LONGEST_IDENTIFIER,
  LOWER,
  lowerCase,
  OUTSIDE,
  PLAIN,
  UNKNOWN,
  UPPER,
} from './cut.ts';
import type { RowWords } from './row-words.ts';
import { textsOf } from './texts.ts';

/** The longest word in the index. A longer word is cut; a longer identifier is indexed by its parts only. */
export const LONGEST_WORD = 64;

/** Unbroken runs of this length, such as images and keys, are noise that nobody searches for. */
const NOISE_LENGTH = 256;
const IS_NOISE = Uint8Array.from({ length: 128 }, (_, unit) =>
  /[A-Za-z0-9+/_=-]/.test(String.fromCharCode(unit)) ? 1 : 0,
);

/**
 * Adds the words of an event to a row of the index, and to the signature of its chunk.
 * @param payload any parsed JSON, with its parts joined
 */
export function collectWords(eventType: string, payload: unknown, words: RowWords, signature: Signature): void {
  for (const text of textsOf(eventType, payload)) addWords(text, words, signature);
}

/**
 * Adds the words of a text: whole identifiers, their parts, and pairs of characters in writing without spaces. It finds the words of `cutText`,
 * but hashes them while it reads, so that most words never become strings: this takes a third of the time.
 */
export function addWords(given: string, words: RowWords, signature: Signature): void {
  const text = withoutNoise(given);
  const lower = lowerCase(text);
  let [denseStart, denseEnd] = [-1, -1];
  for (let at = 0; at < text.length; ) {
    const kind = kindAt(text, at);
    if (kind === OUTSIDE) at++;
    else if (kind === DENSE) {
      const end = at + ((text.codePointAt(at) as number) > 0xffff ? 2 : 1);
      if (denseEnd === at) addRange(lower, denseStart, end, words, signature);
      addRange(lower, at, end, words, signature);
      [denseStart, denseEnd] = [at, end];
      at = end;
    } else at = addIdentifier(text, lower, at, words, signature);
  }
}

const kindAt = (text: string, at: number): number => {
  const known = CLASSES[text.charCodeAt(at)] as number;
  return known === UNKNOWN ? classAt(text, at) : known;
};

function addRange(lower: string, start: number, end: number, words: RowWords, signature: Signature): void {
  const cut = Math.min(end, start + LONGEST_WORD);
  const [one, other] = hashOf(lower, start, cut);
  words.add(one, other, lower, start, cut, signature);
}

/** Where the parts of the identifier at hand end, and the two hashes of each. */
const ends = new Uint32Array(LONGEST_IDENTIFIER);
const hashes = new Uint32Array(2 * LONGEST_IDENTIFIER);

/** @returns where the identifier ends */
function addIdentifier(text: string, lower: string, start: number, words: RowWords, signature: Signature): number {
  const most = Math.min(text.length, start + LONGEST_IDENTIFIER);
  // The hashes of the identifier, of its last part, and of this part without its last letter.
  let one = SEED_ONE;
  let other = SEED_OTHER;
  let partOne = SEED_ONE;
  let partOther = SEED_OTHER;
  let beforeOne = SEED_ONE;
  let beforeOther = SEED_OTHER;
  let from = start;
  let parts = 0;
  let previous = PLAIN;
  let lastCase = PLAIN;
  let at = start;
  for (; at < most; at++) {
    const unit = text.charCodeAt(at);
    // The second half of a pair may not be cut from the first.
    if (unit >= 0xd800 && unit <= 0xdfff) return addWithPairs(text, lower, start, words, signature);
    const kind = kindAt(text, at);
    if (kind === OUTSIDE || kind === DENSE) break;
    if (kind === UPPER && lastCase === LOWER) {
      ends[parts] = at;
      hashes[2 * parts] = partOne;
      hashes[2 * parts++ + 1] = partOther;
      from = at;
      partOne = SEED_ONE;
      partOther = SEED_OTHER;
    } else if (kind === LOWER && previous === UPPER && at - 1 > from) {
      // `HTMLParser`: the last capital belongs to the next word.
      ends[parts] = at - 1;
      hashes[2 * parts] = beforeOne;
      hashes[2 * parts++ + 1] = beforeOther;
      from = at - 1;
      const capital = lower.charCodeAt(from);
      partOne = mixOne(SEED_ONE, capital);
      partOther = mixOther(SEED_OTHER, capital);
    }
    if (kind !== PLAIN) lastCase = kind;
    previous = kind;
    const small = lower.charCodeAt(at);
    if (at - start < LONGEST_WORD) {
      one = mixOne(one, small);
      other = mixOther(other, small);
    }
    beforeOne = partOne;
    beforeOther = partOther;
    if (at - from < LONGEST_WORD) {
      partOne = mixOne(partOne, small);
      partOther = mixOther(partOther, small);
    }
  }
  const [length, count] = [at - start, parts + 1];
  if (isWhole(length, count))
    words.add(one >>> 0, other >>> 0, lower, start, Math.min(at, start + LONGEST_WORD), signature);
  if (!hasParts(length, count)) return at;
  ends[parts] = at;
  hashes[2 * parts] = partOne;
  hashes[2 * parts + 1] = partOther;
  let begin = start;
  for (let part = 0; part < count; part++) {
    const end = ends[part] as number;
    const [hash, otherHash] = [hashes[2 * part] as number, hashes[2 * part + 1] as number];
    words.add(hash, otherHash, lower, begin, Math.min(end, begin + LONGEST_WORD), signature);
    begin = end;
  }
  return at;
}

/** The same for an identifier with letters that take two code units. */
function addWithPairs(text: string, lower: string, start: number, words: RowWords, signature: Signature): number {
  const cuts = [start];
  const end = cutIdentifier(text, start, cuts);
  cuts.push(end);
  const [length, count] = [end - start, cuts.length - 1];
  if (isWhole(length, count)) addRange(lower, start, end, words, signature);
  if (hasParts(length, count))
    for (let n = 1; n < cuts.length; n++) addRange(lower, cuts[n - 1] as number, cuts[n] as number, words, signature);
  return end;
}

/** Replaces each run of noise by a space. It checks only every 256th letter, because each such run has one. */
export function withoutNoise(text: string): string {
  let kept = '';
  let from = 0;
  for (let at = NOISE_LENGTH - 1; at < text.length; at += NOISE_LENGTH) {
    if (!isNoise(text, at)) continue;
    let [start, end] = [at, at + 1];
    while (start > from && isNoise(text, start - 1)) start--;
    while (isNoise(text, end)) end++;
    if (end - start >= NOISE_LENGTH) {
      kept += `${text.slice(from, start)} `;
      from = end;
    }
    at = end - 1;
  }
  return from === 0 ? text : kept + text.slice(from);
}

const isNoise = (text: string, at: number): boolean => IS_NOISE[text.charCodeAt(at)] === 1;

/** Random letters of both cases are cut at about every third letter, human words at about every sixth. */
const isRandom = (length: number, parts: number) => length >= 24 && parts * 4 > length;
export const isWhole = (length: number, parts: number) =>
  parts === 1 || length <= (isRandom(length, parts) ? 32 : LONGEST_WORD);
/** Whether the parts of an identifier are words as well. */
export const hasParts = (length: number, parts: number): boolean => parts > 1 && !isRandom(length, parts);
