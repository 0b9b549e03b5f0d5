import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { itemsOf, membersOf } from './exact-members.ts';

test('taking an object or a list apart gives the exact texts of its values, with any spaces around them', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, '\t'), (value, spaces) => {
      const members = membersOf(JSON.stringify(value, null, spaces));
      const expected = Object.entries(JSON.parse(JSON.stringify(value)) as object);
      expect([...members]).toEqual(expected.map(([name, one]) => [name, JSON.stringify(one)]));
      const list = Object.values(value);
      expect(itemsOf(JSON.stringify(list, null, spaces))).toEqual(list.map((one) => JSON.stringify(one)));
    }),
    runs(500),
  );
});

test('numbers, escapes and repeated names keep their spelling', () => {
  const payload = '{"n":1.50,"big":12345678901234567890,"text":"\\u00e9\\/","text":"two"}';
  expect(membersOf(` { "payload" : ${payload} } `).get('payload')).toBe(payload);
});

test.each(['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '[]', '"a"', 'null', '{"a":1', ''])('%s is refused', (json) => {
  expect(() => membersOf(json)).toThrow();
});
