import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '../../contract/problem.ts';
import { runs, seeded } from '../../contract/test/runs.ts';
import { readOffset, readSequence, writeOffset, writeSequence } from '../cursor.ts';

const encode = (text: string) => Buffer.from(text).toString('base64url');

/** Invalid cursors, from nearly right to far from it. */
const GARBAGE = [
  '',
  ' ',
  'x',
  '%',
  'o:1',
  encode('o:'),
  encode('o:-1'),
  encode('o:01'),
  encode('o:1.5'),
  encode('o:1e3'),
  encode('o:0'),
  encode('o:2147483648'),
];
const MORE_GARBAGE = [
  encode('x:1'),
  encode('o:9007199254740993'),
  encode('o:1 '),
  `${encode('o:1')}=`,
  encode('o:1\n'),
];

describe('cursors', () => {
  test(`return the place that they were made from ${seeded}`, () => {
    const property = fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (place) => {
      expect(readOffset(writeOffset(place))).toBe(place);
      expect(readSequence(writeSequence(place))).toBe(place);
      expect(writeOffset(place)).toMatch(/^[\w-]+$/);
      expect(() => readSequence(writeOffset(place))).toThrow(Problem);
    });
    fc.assert(property, runs(100));
  });

  test(`that the service did not make are a client error ${seeded}`, () => {
    const anything = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.base64String(), fc.string().map(encode));
    const property = fc.property(anything, (cursor) => {
      for (const read of [readOffset, readSequence]) {
        try {
          expect(Number.isSafeInteger(read(cursor))).toBe(true);
        } catch (error) {
          expect((error as Problem).code).toBe('validation_failed');
        }
      }
    });
    fc.assert(property, runs(300));
  });

  test('with no first page or an impossible page are no cursors of a sequence', () => {
    expect(readSequence(writeSequence(2 ** 48))).toBe(2 ** 48);
    for (const text of ['s:0', `s:${2 ** 48 + 1}`]) expect(() => readSequence(encode(text))).toThrow('/cursor ');
  });

  test.each([...GARBAGE, ...MORE_GARBAGE])('%j is no cursor of an offset', (cursor) => {
    expect(() => readOffset(cursor)).toThrow('/cursor ');
  });
});
