import { made, madeUuid } from './made.ts';

/** A secret as its provider issues it, and a text in which people write it. `§` marks the secret. */
export type Example = readonly [secret: string, text: string];

export interface Examples {
  [provider: string]: readonly Example[];
}

/** Makers of random letters. Each call returns different ones, so no secret is in this repository, not even a made-up one. */
export function createMakers(seed: number) {
  let calls = seed;
  const maker = (alphabet: Parameters<typeof made>[0]) => (length: number) => made(alphabet, length, ++calls);
  return {
    alnum: maker('alnum'),
    lower: maker('lower'),
    upper: maker('upper'),
    base32: maker('base32'),
    base64: maker('base64'),
    url: maker('url'),
    hex: maker('hex'),
    digits: maker('digits'),
    uuid: () => madeUuid(++calls),
  };
}
