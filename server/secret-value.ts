import { createHmac, hkdfSync, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Plane } from '../contract/secret.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = /^sk_(live|test)_[0-9A-Za-z]{38}$/;

const prefixOf = (plane: Plane) => `sk_${plane}_`;

/**
 * `sk_live_` or `sk_test_`, 32 random base62 characters (190 bits), and the CRC-32 of all that in six more, so that a
 * typing error is told without asking the store, and a leak scanner can tell a true secret from a look-alike.
 */
export function newSecretValue(plane: Plane): string {
  const random = Array.from({ length: 32 }, () => BASE62[randomInt(62)]).join('');
  return withChecksum(prefixOf(plane) + random);
}

/** The secret that belongs to a device code: the same each time, and known to nobody without the code and the pepper. */
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

/** Whether somebody meant to send a secret, mistyped or not. */
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

/** How a secret is kept: HMAC-SHA-256 under the server's pepper, in hexadecimal. */
export const hashSecret = (pepper: string, value: string): string =>
  createHmac('sha256', pepper).update(value).digest('hex');
