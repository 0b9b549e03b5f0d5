import { randomInt } from 'node:crypto';

/**
 * Which words a chunk may have, and which pairs of consecutive words: one bit for each hash, so that a search reads only the chunks
 * of a row with all its words, and with the words of a phrase next to each other. A chunk of real transcripts has about 900 words
 * and 2,500 pairs, so one in five chunks without a word or a pair seems to have it.
 */
const BITS = 16_384;
export const SIGNATURE_BYTES = BITS / 8;

export class Signature {
  readonly bytes = new Uint8Array(SIGNATURE_BYTES);
  #count = 0;

  set(bit: number): void {
    const at = bit >>> 3;
    const known = this.bytes[at] as number;
    const now = known | (1 << (bit & 7));
    if (now === known) return;
    this.bytes[at] = now;
    this.#count++;
  }

  /** Makes it have every word. */
  fill(): void {
    this.bytes.fill(0xff);
    this.#count = BITS;
  }

  /** Whether another chunk should take further words: half of the words that it does not have seem to be there. */
  get isFull(): boolean {
    return 2 * this.#count >= BITS;
  }
}

/**
 * Two independent hashes of a word in a text. The first one is the same in all processes, because signatures are stored. The second
 * one is only the same within a process.
 */
export function hashOf(text: string, start: number, end: number): [one: number, other: number] {
  let one = SEED_ONE;
  let other = SEED_OTHER;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    one = mixOne(one, unit);
    other = mixOther(other, unit);
  }
  return [one >>> 0, other >>> 0];
}

export const SEED_ONE = 0x811c9dc5;
/** It differs in each process, so that nobody can write words that fall into one place, or that hide each other. */
export const SEED_OTHER = randomInt(2 ** 32);
export const mixOne = (hash: number, unit: number): number => Math.imul(hash ^ unit, 0x01000193);
export function mixOther(hash: number, unit: number): number {
  const mixed = Math.imul(hash ^ unit, 0x5bd1e995);
  return mixed ^ (mixed >>> 13);
}

/** Multiplication moves differences upwards, so words that differ early would share their lower bits more often. */
export const bitOfHash = (one: number): number => (one ^ (one >>> 16)) & (BITS - 1);

/** The bit of two consecutive words, by the first hashes of both. */
export const bitOfPair = (one: number, next: number): number =>
  bitOfHash(Math.imul(Math.imul(one, 0x9e3779b1) ^ next, 0x85ebca6b));

/** The bit of a word, or of a word after another: bit 8n + k is bit k of byte n, as PostgreSQL counts. */
export function bitOf(word: string, after?: string): number {
  const one = firstHash(word);
  return after === undefined ? bitOfHash(one) : bitOfPair(firstHash(after), one);
}

const firstHash = (word: string): number => hashOf(word, 0, word.length)[0];
