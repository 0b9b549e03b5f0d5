import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { decodeWords, encodeWords, unpackWords } from './front-coding.ts';
import { packText } from './packed.ts';

/** Words of few letters, so that many begin alike, among them halves of pairs that differ in the other half. */
const word = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'b', 'é', '\u{1d49c}', '\u{1d49d}', '上', '\ue000'),
    minLength: 1,
    maxLength: 40,
  }),
  fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/\p{Cc}/u.test(text)),
);
const list = fc.uniqueArray(word, { maxLength: 60 });

test('front coding and compressing give back all words of several lists with their prefix', () => {
  fc.assert(
    fc.property(fc.array(list, { maxLength: 4 }), fc.constantFrom('', 'fua6', 'z'.repeat(40)), (lists, prefix) => {
      const text = lists.map((words) => encodeWords(words, prefix)).join('');
      const expected = lists.map((words) => words.map((one) => prefix + one).sort());
      const decoded = unpackWords(packText(text));
      let from = 0;
      for (const words of expected) {
        expect(decoded.slice(from, from + words.length).sort()).toEqual(words);
        from += words.length;
      }
      expect(decoded).toHaveLength(from);
    }),
    runs(300),
  );
});

test('front coding gives back as many words as the largest row of the index has', () => {
  const words = Array.from({ length: 120_000 }, (_, n) => n.toString(36));
  expect(decodeWords(encodeWords(words, 'fua6')).sort()).toEqual(words.map((one) => `fua6${one}`).sort());
});

test('a word after one with the same beginning costs only the letters in which it differs', () => {
  expect(encodeWords(['reading', 'a', 'reader'], 'x')).toBe('\u0001xa\u0002reader\u0006ing');
});
