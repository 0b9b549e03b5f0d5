import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const derive = (pepper: string, use: string) => Buffer.from(hkdfSync('sha256', pepper, '', use, 32));

/** Of the marks in sessions; each session has a key of its own, see `createMarker`. */
export const markKey = (pepper: string): Uint8Array => derive(pepper, 'marks of masked texts');

/**
 * Encrypts a text for as long as it is being masked, so that nothing in the store shows it.
 * @param id of the session or run that it belongs to: it is decrypted for no other
 */
export function seal(pepper: string, id: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, derive(pepper, 'texts that are masked'), nonce);
  cipher.setAAD(Buffer.from(id));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** @throws where it was sealed under another pepper, or for another id */
export function unseal(pepper: string, id: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv(
    ALGORITHM,
    derive(pepper, 'texts that are masked'),
    bytes.subarray(0, NONCE_BYTES),
    { authTagLength: TAG_BYTES },
  );
  decipher.setAAD(Buffer.from(id));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}
