import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { emailKey } from '../store/columns.ts';

test('an e-mail is the same in any case of its Latin letters, and without the spaces around it', () => {
  expect(emailKey(' Mike@Example.COM ')).toBe('mike@example.com');
});

test.each([
  ['the Kelvin sign', 'mi\u212ae@example.com', 'mike@example.com'],
  ['a capital I with a dot', '\u0130da@example.com', 'i\u0307da@example.com'],
  ['a capital of another script', '\u0410nna@example.com', '\u0430nna@example.com'],
  ['full-width letters', '\uff2dike@example.com', '\uff4dike@example.com'],
])('%s is not another letter of an e-mail', (_, one, other) => {
  expect(emailKey(one)).not.toBe(emailKey(other));
});

test('two e-mails are the same only if they differ in the case of Latin letters', () => {
  const letter = fc.constantFrom(
    'k',
    'K',
    '\u212a',
    's',
    'S',
    '\u017f',
    'i',
    'I',
    '\u0130',
    '\u0131',
    '\u00e9',
    '\u00c9',
  );
  const local = fc.array(letter, { minLength: 1, maxLength: 4 }).map((letters) => letters.join(''));
  const folded = (text: string) =>
    [...text].map((one) => (/[A-Z]/.test(one) ? String.fromCharCode(one.charCodeAt(0) + 32) : one)).join('');
  fc.assert(
    fc.property(local, local, (one, other) => {
      expect(emailKey(`${one}@x.example`) === emailKey(`${other}@x.example`)).toBe(folded(one) === folded(other));
    }),
    runs(500),
  );
});
