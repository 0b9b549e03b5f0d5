import { cutText, lowerCase } from './cut.ts';
import { textsOf } from './texts.ts';

/** The longest word of the index. A longer one is cut off; of a longer identifier only the parts are kept. */
export const LONGEST_WORD = 64;

/**
 * What the words of a chunk may take in UTF-8, some 35,000 words. PostgreSQL accepts a megabyte, and the embedded store
 * would write for longer than an append should wait.
 */
const MOST_BYTES = 300_000;

/** A chunk with this many words is closed, because every word leads to all events of its chunk. */
export const ENOUGH_WORDS = 8_000;

/** Stands for the words that found no room. A chunk with it is read whatever is asked. */
export const AND_MORE = '\ue000';

/** Unbroken runs of this length, such as images and keys, are noise: nobody searches for a part of them. */
const NOISE_LENGTH = 256;
const IS_NOISE = Uint8Array.from({ length: 128 }, (_, unit) =>
  /[A-Za-z0-9+/_=-]/.test(String.fromCharCode(unit)) ? 1 : 0,
);

const sizes = new WeakMap<Set<string>, number>();

/**
 * Adds the words by which an event is found. Deriving calls it for each event of a chunk.
 * @param payload as it was parsed, its parts joined; anything at all
 */
export function collectWords(eventType: string, payload: unknown, words: Set<string>): void {
  for (const text of textsOf(eventType, payload)) addWords(text, words);
}

/** Adds the words of a text: the parts of identifiers, whole identifiers, and pairs of characters in writing without blanks. */
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

/** The text with a blank for each run of noise. It looks at every 256th letter alone, of which each such run has one. */
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

/** Random letters of both cases are cut at about every third letter, words of people at every sixth. */
const isRandom = (length: number, parts: number) => length >= 24 && parts * 4 > length;
export const isWhole = (length: number, parts: number) =>
  parts === 1 || length <= (isRandom(length, parts) ? 32 : LONGEST_WORD);
/** Whether the parts of an identifier are words as well. */
export const hasParts = (length: number, parts: number): boolean => parts > 1 && !isRandom(length, parts);
