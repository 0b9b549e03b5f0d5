import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const derive = (pepper: string, use: string) => Buffer.from(hkdfSync('sha256', pepper, '', use, 32));

/** The key for the digests in marks. Each session has its own key, which `createMarker` derives from this one. */
export const markKey = (pepper: string): Uint8Array => derive(pepper, 'marks of masked texts');

/**
 * Encrypts a text while it is being masked, so that the store never shows it.
 * @param id the session or run of the text; the text cannot be decrypted for another one
 */
export function seal(pepper: string, id: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, derive(pepper, 'texts that are masked'), nonce);
  cipher.setAAD(Buffer.from(id));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** @throws if the text was sealed with another pepper or for another id */
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
