import { cutText, lowerCase } from './cut.ts';
import { textsOf } from './texts.ts';

/** The longest word in the index. A longer word is cut; a longer identifier is indexed by its parts only. */
export const LONGEST_WORD = 64;

/**
 * The most UTF-8 bytes of a chunk's words: about 35,000 words. PostgreSQL accepts a megabyte, but the embedded store would
 * block appends too long while it writes one.
 */
const MOST_BYTES = 300_000;

/** A chunk with this many words is closed, because each word leads a search to all events of the chunk. */
export const ENOUGH_WORDS = 8_000;

/** Marks a chunk with more words than the index keeps. Every search reads this chunk. */
export const AND_MORE = '\ue000';

/** Unbroken runs of this length, such as images and keys, are noise that nobody searches for. */
const NOISE_LENGTH = 256;
const IS_NOISE = Uint8Array.from({ length: 128 }, (_, unit) =>
  /[A-Za-z0-9+/_=-]/.test(String.fromCharCode(unit)) ? 1 : 0,
);

const sizes = new WeakMap<Set<string>, number>();

/**
 * Adds the words of an event for the index.
 * @param payload any parsed JSON, with its parts joined
 */
export function collectWords(eventType: string, payload: unknown, words: Set<string>): void {
  for (const text of textsOf(eventType, payload)) addWords(text, words);
}

/** Adds the words of a text: whole identifiers, their parts, and pairs of characters in writing without spaces. */
export function addWords(given: string, words: Set<string>): void {
  const text = withoutNoise(given);
  const lower = lowerCase(text);
  let bytes = sizes.get(words) ?? 0;
  function add(start: number, end: number): void {
    const word = lower.slice(start, Math.min(end, start + LONGEST_WORD));
    if (words.has(word)) return;
    bytes += Buffer.byteLength(word);
    if (bytes <= MOST_BYTES) words.add(word);
  }
  let [denseStart, denseEnd] = [-1, -1];
  cutText(text, 0, (cuts, isDense) => {
    const [start, end] = [cuts[0] as number, cuts.at(-1) as number];
    if (isDense) {
      if (denseEnd === start) add(denseStart, end);
      [denseStart, denseEnd] = [start, end];
    }
    if (isWhole(end - start, cuts.length - 1)) add(start, end);
    if (hasParts(end - start, cuts.length - 1))
      for (let n = 1; n < cuts.length; n++) add(cuts[n - 1] as number, cuts[n] as number);
    return bytes <= MOST_BYTES;
  });
  if (bytes > MOST_BYTES) words.add(AND_MORE);
  sizes.set(words, bytes);
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
