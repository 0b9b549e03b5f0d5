import { bitOfHash, hashOf, type Signature } from '../store/signature.ts';

/** A row with this many words, or bytes of words, takes no further chunk. */
const ENOUGH_WORDS = 30_000;
const ENOUGH_BYTES = 300_000;
/**
 * The most UTF-8 bytes of a row's words. PostgreSQL accepts a megabyte, but the embedded store would block appends too long while it
 * writes one.
 */
const MAX_BYTES = 600_000;
/** What the index adds to a word: the prefix of its session, and what separates words. */
const BESIDE = 5;
const SMALLEST = 1_024;

/** Marks a row with a chunk that has more words than the row keeps. Every search reads this chunk. */
export const AND_MORE = '\ue000';

/** Which words a row of the index has. It keeps a hash of 64 bits for each word instead of the word. */
export class RowWords {
  /** Two hashes for each word. The first one is 0 in a free place. */
  #table = new Uint32Array(2 * SMALLEST);
  #size = 0;
  #bytes = 0;
  #isOverflowing = false;
  #fresh: string[] = [];

  get size(): number {
    return this.#size;
  }

  /** Whether further chunks need another row, because each word leads a search to all chunks of its row. */
  get isFull(): boolean {
    return this.#size >= ENOUGH_WORDS || this.#bytes >= ENOUGH_BYTES;
  }

  /** The bytes of memory that it takes. */
  get weight(): number {
    return this.#table.byteLength;
  }

  /** Adds words that the row already has in the store. */
  restore(words: readonly string[]): void {
    for (const word of words) this.#addWord(word);
    this.#fresh = [];
  }

  /** Adds the word between two places of a text. The hashes are those of `hashOf`. */
  add(one: number, other: number, text: string, start: number, end: number, signature: Signature): void {
    if (this.#isOverflowing) return;
    signature.set(bitOfHash(one));
    if (!this.#add(one, other, text, start, end) || this.#bytes <= MAX_BYTES) return;
    this.#addWord(AND_MORE);
    this.#isOverflowing = true;
    signature.fill();
  }

  #addWord(word: string): void {
    const [one, other] = hashOf(word, 0, word.length);
    this.#add(one, other, word, 0, word.length);
  }

  /** The words that were added since the last call. */
  takeFresh(): string[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  /** @returns whether the row did not have it */
  #add(one: number, other: number, text: string, start: number, end: number): boolean {
    const table = this.#table;
    const mask = table.length - 1;
    // A hash of 0 would look like a free place.
    const marked = one === 0 ? 1 : one;
    for (let at = (2 * other) & mask; ; at = (at + 2) & mask) {
      const known = table[at] as number;
      if (known === marked && table[at + 1] === other) return false;
      if (known !== 0) continue;
      table[at] = marked;
      table[at + 1] = other;
      break;
    }
    const word = text.slice(start, end);
    this.#fresh.push(word);
    this.#bytes += Buffer.byteLength(word) + BESIDE;
    if (4 * ++this.#size > table.length) this.#grow();
    return true;
  }

  #grow(): void {
    const before = this.#table;
    this.#table = new Uint32Array(2 * before.length);
    const mask = this.#table.length - 1;
    for (let from = 0; from < before.length; from += 2) {
      if (before[from] === 0) continue;
      let at = (2 * (before[from + 1] as number)) & mask;
      while (this.#table[at] !== 0) at = (at + 2) & mask;
      this.#table[at] = before[from] as number;
      this.#table[at + 1] = before[from + 1] as number;
    }
  }
}
