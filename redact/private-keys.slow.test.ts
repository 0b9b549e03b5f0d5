import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { redactOne } from '../cli/test/redacting.ts';
import { createRedactor } from './redactor.ts';
import { made } from './test/made.ts';

const redactor = createRedactor({ key: new Uint8Array(32) });
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };
let sessions = 0;

function redact(output: string): string {
  const event = { eventType: 'tool.result' as const, payload: { source, output } };
  // Each call has its own session, so that no call masks the secrets of another.
  const { payload } = redactOne(redactor, event, { session: `codex ${++sessions}` });
  return String((payload as { output?: unknown }).output);
}

const exportKey = (type: 'rsa' | 'ec' | 'ed25519') => {
  const { privateKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : type === 'ec'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();
};

const PGP = [
  '-----BEGIN PGP PRIVATE KEY BLOCK-----',
  'Version: GnuPG v2',
  '',
  ...Array.from({ length: 20 }, (_, line) => made('base64', 64, line)),
  `=${made('alnum', 4)}`,
  '-----END PGP PRIVATE KEY BLOCK-----',
].join('\n');

const KEYS = { RSA: exportKey('rsa'), EC: exportKey('ec'), Ed25519: exportKey('ed25519'), PGP };

const ESCAPE = '\u001b';
/** How a program prints the lines of a file. */
const PRINTED: { [how: string]: (line: string, index: number) => string } = {
  'as it is': (line) => line,
  'removed in a diff': (line) => `-${line}`,
  'added in a diff': (line) => `+${line}`,
  'kept in a diff': (line) => ` ${line}`,
  'removed in a diff with colours': (line) => `${ESCAPE}[31m-${line}${ESCAPE}[m`,
  'added in a diff with colours of both': (line) => `${ESCAPE}[32m+${ESCAPE}[m${ESCAPE}[32m${line}${ESCAPE}[m`,
  'quoted with >': (line) => `> ${line}`,
  'numbered by cat -n': (line, index) => `${String(index + 1).padStart(6)}\t${line}`,
  'numbered with an arrow': (line, index) => `${String(index + 1).padStart(6)}→${line}`,
  'numbered with a bar': (line, index) => `${String(index + 1).padStart(4)} | ${line}`,
  'numbered by nl': (line, index) => `${String(index + 1).padStart(6)}  ${line}`,
  'found by grep -n': (line, index) => `${index + 1}:${line}`,
  'found by grep in a file': (line, index) => `deploy/id_rsa.pem:${index + 1}:${line}`,
  "beside grep's output": (line, index) => `deploy/id_rsa.pem-${index + 1}-${line}`,
  'indented in YAML': (line) => `      ${line}`,
  'a list in YAML': (line) => `  - ${line}`,
  'a list of strings': (line) => `  "${line}",`,
  'strings that are joined': (line) => `  "${line}\\n" +`,
  'a comment': (line) => `# ${line}`,
  'a block of comment': (line) => ` * ${line}`,
  'with line ends of Windows': (line) => `${line}\r`,
};

const longLines = (key: string) => key.split('\n').filter((line) => /^[A-Za-z0-9+/]{24,}/.test(line));
const countPlain = (key: string, masked: string) => longLines(key).filter((line) => masked.includes(line)).length;

describe.each(Object.entries(KEYS))('a private key of %s', (kind, key) => {
  const lines = key.split('\n');

  test.each(Object.entries(PRINTED))('%s is masked whole', (_how, print) => {
    const masked = redact(`before\n${lines.map(print).join('\n')}\nafter`);
    expect(countPlain(key, masked)).toBe(0);
    expect(masked.startsWith('before\n')).toBe(true);
    expect(masked.endsWith('\nafter')).toBe(true);
  });

  test.each(Object.entries(PRINTED))('%s is masked without its end', (_how, print) => {
    const masked = redact(`before\n${lines.slice(0, -2).map(print).join('\n')}`);
    expect(countPlain(key, masked)).toBeLessThanOrEqual(lines.length < 5 ? 1 : 0);
  });

  test.each(Object.entries(PRINTED))('%s is masked without its beginning', (_how, print) => {
    if (kind === 'Ed25519') return;
    const masked = redact(
      `${lines
        .slice(kind === 'PGP' ? 3 : 1)
        .map(print)
        .join('\n')}\nafter`,
    );
    // A line with a checksum, as PGP writes it, is not base64.
    expect(kind === 'PGP' ? 0 : countPlain(key, masked)).toBe(0);
  });
});

test.each([
  ['JSON', (key: string) => JSON.stringify({ key })],
  ['JSON in JSON', (key: string) => JSON.stringify({ text: JSON.stringify({ key }) })],
  ['JSON in a log', (key: string) => `log: ${JSON.stringify({ key })} done`],
  ['base64', (key: string) => `tls.key: ${Buffer.from(key).toString('base64')}`],
  ['base64 over lines', (key: string) => `${Buffer.from(key).toString('base64').replace(/.{76}/g, '$&\n')}`],
  ['one line', (key: string) => `KEY="${key.replaceAll('\n', ' ')}"`],
  ['wrapped', (key: string) => key.replace(/.{50}/g, '$&\n')],
])('a private key is masked in %s', (_how, write) => {
  const key = KEYS.RSA;
  const written = write(key);
  const pieces = written.match(/[A-Za-z0-9+/]{24,}/g) ?? [];
  expect(pieces.length).toBeGreaterThan(0);
  const masked = redact(written);
  expect(pieces.filter((piece) => masked.includes(piece))).toEqual([]);
});

test.each(Object.entries(PRINTED))('%s, a private key across the cut of a long text is masked whole', (_how, print) => {
  const key = KEYS.RSA.split('\n').map(print).join('\n');
  const line = `${'x'.repeat(99)}\n`;
  for (const before of [300, 1200]) {
    const text = `${line.repeat(Math.ceil((1024 * 1024 - before) / 100))}${key}\n${line.repeat(500)}`;
    expect(countPlain(KEYS.RSA, redact(text))).toBe(0);
  }
});

test('a text that only mentions a private key stays unchanged', () => {
  for (const text of [
    'Look for -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- in the file.',
    `if (text.includes('-----END RSA PRIVATE KEY-----')) return sha256('${made('hex', 64)}');`,
    'the last line reads done-----END PRIVATE KEY-----',
  ]) {
    expect(redact(text)).toBe(text);
  }
});
