import { createHmac, hkdfSync, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Plane } from '../contract/secret.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = /^sk_(live|test)_[0-9A-Za-z]{38}$/;

const prefixOf = (plane: Plane) => `sk_${plane}_`;

/**
 * `sk_live_` or `sk_test_`, 32 random base62 characters (190 bits), and their CRC-32 in six more. The checksum detects a
 * typing error without a query, and helps leak scanners to recognize real secrets.
 */
export function newSecretValue(plane: Plane): string {
  const random = Array.from({ length: 32 }, () => BASE62[randomInt(62)]).join('');
  return withChecksum(prefixOf(plane) + random);
}

const DIRECTORY_PREFIX = 'scim_';

/** The token of a directory: `scim_`, 43 random base62 characters (256 bits). */
export const newDirectoryToken = (): string => DIRECTORY_PREFIX + random256();

const READING_PREFIX = 'read_';

/** The token with which a machine reads as a person. It is the device code of their sign-in, which only the machine holds. */
export const readingTokenOf = (deviceCode: string): string => READING_PREFIX + deviceCode;

/** The device code in a token for reading. Undefined if the text is no such token. */
export const deviceCodeIn = (token: string): string | undefined => /^read_([\w-]{43})$/.exec(token)?.[1];

/** The token of a share: 43 random base62 characters (256 bits), which are a part of its address. */
export const newShareToken = (): string => random256();

const random256 = () => Array.from({ length: 43 }, () => BASE62[randomInt(62)]).join('');

export const looksLikeDirectoryToken = (text: string): boolean => /^scim_[0-9A-Za-z]{43}$/.test(text);

/** Derives the secret of a device code: always the same one, and only with the code and the pepper. */
export function secretValueOf(pepper: string, plane: Plane, deviceCode: string): string {
  let rest = BigInt(`0x${Buffer.from(hkdfSync('sha256', deviceCode, pepper, 'device secret', 48)).toString('hex')}`);
  let characters = '';
  for (let i = 0; i < 32; i++) {
    characters += BASE62[Number(rest % 62n)];
    rest /= 62n;
  }
  return withChecksum(prefixOf(plane) + characters);
}

/** Whether the text has the form of a secret and its checksum fits. */
export const isSecretValue = (text: string): boolean => FORM.test(text) && withChecksum(text.slice(0, -6)) === text;

/** Whether the text is meant to be a secret, even a mistyped one. */
export const looksLikeSecret = (text: string): boolean => /^sk_(live|test)_/.test(text);

function withChecksum(text: string): string {
  let rest = crc32(text);
  let checksum = '';
  for (let i = 0; i < 6; i++) {
    checksum = BASE62[rest % 62] + checksum;
    rest = Math.floor(rest / 62);
  }
  return text + checksum;
}

/** The stored form of a secret: HMAC-SHA-256 under the server's pepper, in hexadecimal. */
export const hashSecret = (pepper: string, value: string): string =>
  createHmac('sha256', pepper).update(value).digest('hex');

/** Without I, O, 0 and 1, which people confuse: 32 characters, 5 bits each. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const USER_CODE_HALF = 4;

/** 256 random bits, which only the machine holds. */
export const newDeviceCode = (): string => randomBytes(32).toString('base64url');

/** 40 random bits to read out, such as `ABCD-EFGH`. 30 guesses a minute hit one of a thousand codes once in 70 years. */
export function newUserCode(): string {
  const half = () => Array.from({ length: USER_CODE_HALF }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${half()}-${half()}`;
}

/** The typed user code in its stored form: capitals and digits only. */
export const plainUserCode = (typed: string): string => typed.toUpperCase().replace(/[^0-9A-Z]/g, '');
