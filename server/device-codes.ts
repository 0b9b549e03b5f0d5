import { randomBytes, randomInt } from 'node:crypto';

/** Without I, O, 0 and 1, which are mistaken for each other: 32 characters, 5 bits each. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const HALF = 4;

/** 256 bits, for the machine that keeps it. */
export const newDeviceCode = (): string => randomBytes(32).toString('base64url');

/** 40 bits, to be read out: `ABCD-EFGH`. At 30 guesses a minute one of a thousand is met once in 70 years. */
export function newUserCode(): string {
  const half = () => Array.from({ length: HALF }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${half()}-${half()}`;
}

/** What was typed, as the code is kept: in capitals, and without what only makes it readable. */
export const plainUserCode = (typed: string): string => typed.toUpperCase().replace(/[^0-9A-Z]/g, '');
