/** The hash covers eight letters. Shorter values are not searched for. */
export const HASHED_LETTERS = 8;

/** One scattered number per letter. Each shift by four bits drops the letter from eight places before. */
export const GEAR = Int32Array.from({ length: 256 }, (_, letter) => {
  let mixed = Math.imul(letter + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
});

export function hashLetters(text: string, from: number): number {
  let hash = 0;
  for (let index = from; index < from + HASHED_LETTERS; index++)
    hash = ((hash << 4) + (GEAR[text.charCodeAt(index) & 255] as number)) | 0;
  return hash;
}

/** A bit for each of the highest `32 - shift` bits of a hash. */
export interface HashFilter {
  bits: Int32Array;
  shift: number;
}

/**
 * With 32 bits per hash, at most one text position in 30 is compared again. The filter has at least 32 kB, which stay in the
 * cache.
 */
const BITS_PER_HASH = 32;
const MIN_BITS = 18;

export const NO_HASHES: HashFilter = { bits: new Int32Array(1 << (MIN_BITS - 5)), shift: 32 - MIN_BITS };

/** Leaves room for as many more. */
export function createHashFilter(hashes: readonly number[]): HashFilter {
  const width = Math.max(MIN_BITS, Math.min(27, Math.ceil(Math.log2(2 * hashes.length * BITS_PER_HASH))));
  const filter = { bits: new Int32Array(1 << (width - 5)), shift: 32 - width };
  for (const hash of hashes) addHash(filter, hash);
  return filter;
}

export function addHash({ bits, shift }: HashFilter, hash: number): void {
  const place = hash >>> shift;
  bits[place >>> 5] = (bits[place >>> 5] as number) | (1 << (place & 31));
}

export const isCrowded = ({ bits }: HashFilter, count: number): boolean => count > bits.length;
