import { bitOfPair, mixOne, mixOther, SEED_ONE, SEED_OTHER, type Signature } from '../store/signature.ts';
import {
  CLASSES,
  classAt,
  cutIdentifier,
  DENSE,
  LOWER,
  lowerCase,
  MAX_IDENTIFIER,
  OUTSIDE,
  PLAIN,
  UNKNOWN,
  UPPER,
} from './cut.ts';
import type { RowWords } from './row-words.ts';
import { textsOf } from './texts.ts';

/** The longest word in the index. A longer word is cut; a longer identifier is indexed by its parts only. */
export const MAX_WORD = 64;

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
 * Adds the words of a text: whole identifiers, their parts, and pairs of characters in writing without spaces. It finds the words of
 * `cutText`, but hashes them while it reads, so that most words never become strings. The signature also gets the pairs of words
 * that follow each other, of which each may be a whole identifier or a part.
 */
export function addWords(given: string, words: RowWords, signature: Signature): void {
  const text = withoutNoise(given);
  new Splitter(text, lowerCase(text), words, signature).run();
}

/** The code units of a text. Reading them one by one from a string takes nearly twice as long. */
class Units {
  #units = new Uint16Array(64 * 1024);

  read(text: string): Uint16Array {
    const isLarge = text.length > this.#units.length;
    const units = isLarge ? new Uint16Array(text.length) : this.#units;
    Buffer.from(units.buffer).write(text, 'utf16le');
    return units;
  }
}

const unitsOfText = new Units();
const unitsOfLower = new Units();
/** Where the parts of an identifier end. */
const ends = new Uint32Array(MAX_IDENTIFIER);

/** Instead of a hash. */
const NO_WORD = -1;

class Splitter {
  readonly #text: string;
  readonly #lower: string;
  readonly #units: Uint16Array;
  readonly #lowerUnits: Uint16Array;
  readonly #words: RowWords;
  readonly #signature: Signature;
  /** The hashes of the identifier before: of the whole, and of its last part. */
  #whole = NO_WORD;
  #part = NO_WORD;

  constructor(text: string, lower: string, words: RowWords, signature: Signature) {
    this.#text = text;
    this.#lower = lower;
    this.#units = unitsOfText.read(text);
    this.#lowerUnits = unitsOfLower.read(lower);
    this.#words = words;
    this.#signature = signature;
  }

  run(): void {
    const text = this.#text;
    const units = this.#units;
    let [denseStart, denseEnd] = [-1, -1];
    for (let at = 0; at < text.length; ) {
      const known = CLASSES[units[at] as number] as number;
      const kind = known === UNKNOWN ? classAt(text, at) : known;
      if (kind === OUTSIDE) at++;
      else if (kind === DENSE) {
        const end = at + ((text.codePointAt(at) as number) > 0xffff ? 2 : 1);
        if (denseEnd === at) this.#add(denseStart, end);
        this.#add(at, end);
        [denseStart, denseEnd] = [at, end];
        this.#whole = this.#part = NO_WORD;
        at = end;
      } else at = this.#addIdentifier(at);
    }
  }

  /** @returns where the identifier ends */
  #addIdentifier(start: number): number {
    const text = this.#text;
    const units = this.#units;
    const most = Math.min(text.length, start + MAX_IDENTIFIER);
    let from = start;
    let parts = 0;
    let previous = PLAIN;
    let lastCase = PLAIN;
    let at = start;
    for (; at < most; at++) {
      const known = CLASSES[units[at] as number] as number;
      const kind = known === UNKNOWN ? classAt(text, at) : known;
      if (kind === OUTSIDE || kind === DENSE) break;
      // The second half of a pair may not be cut from the first.
      if (known === UNKNOWN && isSurrogate(units[at] as number)) return this.#addWithPairs(start);
      if (kind === UPPER && lastCase === LOWER) {
        ends[parts++] = at;
        from = at;
      } else if (kind === LOWER && previous === UPPER && at - 1 > from) {
        // `HTMLParser`: the last capital belongs to the next word.
        from = at - 1;
        ends[parts++] = from;
      }
      if (kind !== PLAIN) lastCase = kind;
      previous = kind;
    }
    ends[parts++] = at;
    this.#addCut(start, at, parts);
    return at;
  }

  /** The same for an identifier with letters that take two code units. */
  #addWithPairs(start: number): number {
    const cuts: number[] = [];
    const end = cutIdentifier(this.#text, start, cuts);
    cuts.push(end);
    ends.set(cuts);
    this.#addCut(start, end, cuts.length);
    return end;
  }

  /** Adds an identifier whose parts end at `ends`, and its pairs with the one before it. */
  #addCut(start: number, end: number, parts: number): void {
    const [wholeBefore, partBefore] = [this.#whole, this.#part];
    const whole = isWhole(end - start, parts) ? this.#add(start, end) : NO_WORD;
    this.#whole = whole;
    this.#part = NO_WORD;
    this.#pair(wholeBefore, whole);
    this.#pair(partBefore, whole);
    if (!hasParts(end - start, parts)) return;
    let from = start;
    for (let n = 0; n < parts; n++) {
      const to = ends[n] as number;
      const part = this.#add(from, to);
      this.#pair(n === 0 ? partBefore : this.#part, part);
      if (n === 0) this.#pair(wholeBefore, part);
      this.#part = part;
      from = to;
    }
  }

  #pair(one: number, next: number): void {
    if (one !== NO_WORD && next !== NO_WORD) this.#signature.set(bitOfPair(one, next));
  }

  /** @returns the first hash of the word */
  #add(start: number, end: number): number {
    const units = this.#lowerUnits;
    const cut = Math.min(end, start + MAX_WORD);
    let one = SEED_ONE;
    let other = SEED_OTHER;
    for (let at = start; at < cut; at++) {
      const unit = units[at] as number;
      one = mixOne(one, unit);
      other = mixOther(other, unit);
    }
    this.#words.add(one >>> 0, other >>> 0, this.#lower, start, cut, this.#signature);
    return one >>> 0;
  }
}

const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff;

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
  parts === 1 || length <= (isRandom(length, parts) ? 32 : MAX_WORD);
/** Whether the parts of an identifier are words as well. */
export const hasParts = (length: number, parts: number): boolean => parts > 1 && !isRandom(length, parts);
