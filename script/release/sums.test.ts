import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeFolder } from '../../cli/test/folder.ts';
import { readReleaseKey, writeSums } from './sums.ts';

let folder: string;
beforeEach(() => {
  folder = makeFolder();
  writeFileSync(join(folder, 'capture-2.tar.gz'), 'two');
  writeFileSync(join(folder, 'capture-1.tar.gz'), 'one');
});

const sumOf = (text: string) => createHash('sha256').update(text).digest('hex');
const SUMS = `${sumOf('one')}  capture-1.tar.gz\n${sumOf('two')}  capture-2.tar.gz\n`;
const readSums = () => readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
const hasSignature = () => existsSync(join(folder, 'SHA256SUMS.sig'));

/** Makes the files of a key pair, as docs/install.md describes. */
function makeKey(): { key: string; publicKey: string } {
  const home = makeFolder();
  const [key, publicKey] = [join(home, 'release-key.pem'), join(home, 'release-key.pub')];
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', key]);
  execFileSync('openssl', ['pkey', '-in', key, '-pubout', '-out', publicKey]);
  return { key, publicKey };
}

/** The output of the command in docs/install.md. */
const verify = (publicKey: string): string =>
  spawnSync(
    'openssl',
    ['pkeyutl', '-verify', '-pubin', '-inkey', publicKey, '-rawin', '-in', 'SHA256SUMS', '-sigfile', 'SHA256SUMS.sig'],
    { cwd: folder, encoding: 'utf8' },
  ).stdout;

describe('the sums of a release', () => {
  test('name each file once, even when made again', () => {
    const { key } = makeKey();
    for (let made = 0; made < 2; made++) {
      writeSums(folder, readReleaseKey({ RELEASE_KEY: key }));
      expect(readSums()).toBe(SUMS);
    }
  });

  test('have a signature that openssl verifies with the release key only', () => {
    const { key, publicKey } = makeKey();
    writeSums(folder, readReleaseKey({ RELEASE_KEY: key }));
    expect(verify(publicKey)).toMatch(/Verified Successfully/);
    expect(verify(makeKey().publicKey)).toMatch(/Signature Verification Failure/);
    writeFileSync(join(folder, 'SHA256SUMS'), readSums().replace('capture-1', 'capture-3'));
    expect(verify(publicKey)).toMatch(/Signature Verification Failure/);
  });

  test('lose the signature of earlier sums when made without a key', () => {
    writeSums(folder, readReleaseKey({ RELEASE_KEY: makeKey().key }));
    expect(hasSignature()).toBe(true);
    writeSums(folder, readReleaseKey({}));
    expect(hasSignature()).toBe(false);
  });

  test('refuse a key other than Ed25519', () => {
    const path = join(makeFolder(), 'key.pem');
    writeFileSync(
      path,
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    );
    expect(() => readReleaseKey({ RELEASE_KEY: path })).toThrow(/Ed25519/);
  });
});
