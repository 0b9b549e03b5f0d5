import { createPublicKey } from 'node:crypto';
import { keyIdOf } from '../../contract/dsse.ts';

/** The id of a public key in PEM: the key itself in base64 (SPKI), on one line. */
export const idOfKey = (pem: string): string => keyIdOf(createPublicKey(pem));

/**
 * Compares the key that signed a file with the expected one. Anybody can sign a file with a key of their own.
 * @param expected the id of the expected key; undefined if nobody knows it
 * @throws if they differ
 */
export function assertSignedBy(file: string, publicKey: string, expected: string | undefined): void {
  const id = idOfKey(publicKey);
  if (expected === undefined || expected === id) return;
  throw new Error(
    `${file} is signed with the key ${id}, not with ${expected}. If you trust its signer, give --key ${id}. Nothing was written`,
  );
}
