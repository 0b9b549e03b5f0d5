import { describe, expect, test } from 'vitest';
import { findKubernetesSecrets } from './kubernetes.ts';
import { made } from './test/made.ts';

/** A release of Helm is this long. */
const LONG = made('base64', 200_000);
const SHORT = made('base64', 24, 2);
const secret = { apiVersion: 'v1', data: { release: LONG, token: SHORT }, kind: 'Secret', type: 'Opaque' };

describe('all values of a Kubernetes secret are found beside one of 200,000 letters', () => {
  test.each([
    ['JSON', JSON.stringify(secret)],
    ['JSON over lines', JSON.stringify(secret, null, 2)],
    ['JSON with the kind first', JSON.stringify({ kind: 'Secret', data: secret.data })],
    ['a list in JSON', JSON.stringify({ items: [secret], kind: 'List' })],
    ['YAML', `apiVersion: v1\ndata:\n  release: ${LONG}\n  token: ${SHORT}\nkind: Secret\ntype: Opaque\n`],
    ['YAML with the kind first', `kind: Secret\ndata:\n  release: ${LONG}\n  token: ${SHORT}\n`],
    [
      'YAML with a block',
      `kind: Secret\nstringData:\n  release: |\n    ${LONG.replace(/.{76}/g, '$&\n    ')}\n  token: ${SHORT}\n`,
    ],
  ])('%s', (_form, text) => {
    const found = findKubernetesSecrets(text).map((span) => span.secret.replaceAll(/\n */g, ''));
    expect(found).toEqual([LONG, SHORT]);
  });
});

test('a secret in YAML after JSON that was cut off is found', () => {
  const text = `{"kind":"Secret","data":{"a":"${SHORT}"}\n---\nkind: Secret\ndata:\n  token: ${LONG}\n`;
  expect(findKubernetesSecrets(text).map((span) => span.secret)).toContain(LONG);
});

test('a secret in YAML below an empty first line is found', () => {
  const found = findKubernetesSecrets(`\nkind: Secret\ndata:\n  token: ${SHORT}\n`);
  expect(found.map((span) => span.secret)).toEqual([SHORT]);
});

test.each([
  '{"kind":"Secret"}',
  '{"kind":"Secret",',
  '"kind":"Secret"}',
  '{{"kind":"Secret"}',
  '{"kind":"Secret"\\"',
  '"kind":"Secret\\"',
  '\n{"kind":"Secret"',
  'kind: Secret ',
  'kind: Secret\n',
  '- kind: Secret\n',
  '\n\n\n\nkind: Secret',
])(
  'a megabyte of %j is read once',
  (piece) => {
    const started = process.cpuUsage();
    findKubernetesSecrets(`{"kind":"Secret"}\n${piece.repeat(1e6 / piece.length)}`);
    findKubernetesSecrets(`${'\n'.repeat(500_000)}${piece.repeat(5e5 / piece.length)}`);
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1e6).toBeLessThan(5);
  },
  120_000,
);
