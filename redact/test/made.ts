const ALPHABETS = {
  alnum: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  letters: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  lower: 'abcdefghijklmnopqrstuvwxyz0123456789',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
  base32: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  base58: 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789',
  bech32: '023456789acdefghjklmnpqrstuvwxyz',
  base64: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  url: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-',
  hex: '0123456789abcdef',
  digits: '0123456789',
  strong: 'ABCDEFGHIJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789!#%*+-_@',
};

/**
 * The random part of an example. It is generated, because a scanner of this repository must find no token in it. The same
 * call returns the same letters.
 */
export function made(alphabet: keyof typeof ALPHABETS, length: number, seed = 1): string {
  const letters = ALPHABETS[alphabet];
  let state = (length * 7919 + seed * 104729 + letters.length) | 0;
  let text = '';
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    text += letters[(state >>> 8) % letters.length];
  }
  return text;
}

export function madeUuid(seed = 1): string {
  return [8, 4, 4, 4, 12].map((length) => made('hex', length, seed + length)).join('-');
}

const RANDOM = new RegExp(String.raw`<(${Object.keys(ALPHABETS).join('|')}) (\d+)(?: (\d+))?>`, 'g');

/** The text of an example. `<alnum 40>`, `<alnum 40 2>`, `<uuid>` and `<encode …>` are replaced with generated text. */
export function makeExample(template: string): string {
  return template
    .replace(RANDOM, (_, alphabet, length, seed) => made(alphabet, Number(length), Number(seed ?? 1)))
    .replace(/<uuid(?: (\d+))?>/g, (_, seed) => madeUuid(Number(seed ?? 1)))
    .replace(/<encode ([^<>]*)>/g, (_, text) => Buffer.from(text).toString('base64'));
}
