import { createPrivateKey, hash, type KeyObject, sign } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './bundle.ts';

/** The folder of a release. */
export const RELEASE = join(ROOT, 'artefacts/release');

const SUMS = 'SHA256SUMS';
const SIGNATURE = `${SUMS}.sig`;

/**
 * Writes the SHA-256 sums of all files in the folder into `SHA256SUMS`, as `sha256sum` reads them. With a key, `SHA256SUMS.sig`
 * is the Ed25519 signature of that file, as `openssl pkeyutl -rawin` reads it. An earlier signature is removed.
 */
export function writeSums(folder: string, key: KeyObject | undefined): void {
  const files = readdirSync(folder).filter((file) => file !== SUMS && file !== SIGNATURE);
  const lines = files.sort().map((file) => `${hash('sha256', readFileSync(join(folder, file)))}  ${file}\n`);
  const sums = Buffer.from(lines.join(''));
  rmSync(join(folder, SIGNATURE), { force: true });
  writeFileSync(join(folder, SUMS), sums);
  if (key) writeFileSync(join(folder, SIGNATURE), sign(null, sums, key));
}

/**
 * Reads the key that signs releases from the file that `RELEASE_KEY` names; undefined without `RELEASE_KEY`.
 * @throws if it is not an Ed25519 private key
 */
export function readReleaseKey({ RELEASE_KEY }: NodeJS.ProcessEnv = process.env): KeyObject | undefined {
  if (RELEASE_KEY === undefined) return undefined;
  const key = createPrivateKey(readFileSync(RELEASE_KEY));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('RELEASE_KEY must name an Ed25519 private key in PEM');
  return key;
}

if (import.meta.main) writeSums(RELEASE, readReleaseKey());
