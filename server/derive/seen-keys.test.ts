import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { addKey, hasKey } from './seen-keys.ts';

const FORM = { length: 3, most: 20 };
/** Few letters, so that the end of a key and the beginning of the next one often look like a third one. */
const key = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: FORM.length, maxLength: FORM.length + 2 });

test('the latest keys are known by their beginnings, and no others', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 2 * FORM.most }), key, (keys, asked) => {
      const text = keys.reduce((before, next) => addKey(before, next, FORM), '');
      const beginnings = keys.slice(-FORM.most).map((one) => one.slice(0, FORM.length));
      expect(hasKey(text, asked, FORM)).toBe(beginnings.includes(asked.slice(0, FORM.length)));
    }),
    runs(500),
  );
});
