import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { parseExact } from '../exact.ts';
import { readValues } from './values.ts';

const line = (text: string | Buffer, terminated = true) => {
  const bytes = Buffer.from(text);
  return { start: 100, end: 100 + bytes.length + (terminated ? 1 : 0), bytes, terminated, tooLong: false };
};

test.each([
  ['one object', '{"a":1}', ['{"a":1}']],
  ['glued objects', '{"a":"}{"}{"b":2} {"c":3}', ['{"a":"}{"}', '{"b":2}', '{"c":3}']],
  ['text behind an object', '{"a":1} tail', ['{"a":1}', 'junk: tail']],
  ['a torn record before a whole one', '{"type":"x","y{"type":"z"}', ['junk: {"type":"x","y', '{"type":"z"}']],
  ['a torn record that contains an object', '{"type":"x","in":{"b":1}', ['junk: {"type":"x","in":{"b":1}']],
  ['no object', '[1,2]', ['junk: [1,2]']],
  ['nothing', ' \r', []],
])('%s', (_, text, expected) => {
  const values = readValues(line(text));
  expect(values.map(({ record, bytes }) => (record ? JSON.stringify(record) : `junk: ${bytes}`))).toEqual(expected);
  expect(values.at(-1)?.end ?? line(text).end).toBe(line(text).end);
});

test('values do not overlap, and omit only blanks', () => {
  const text = fc
    .array(fc.constantFrom('{"a":1}', '{"a":"{"}', '{', '}', '"', ' ', 'x', '\\', 'é'))
    .map((all) => all.join(''));
  fc.assert(
    fc.property(text, (content) => {
      const values = readValues(line(content));
      expect(
        values
          .map(({ bytes }) => bytes.toString())
          .join('')
          .replace(/\s/g, ''),
      ).toBe(content.replace(/\s/g, ''));
    }),
    runs(100),
  );
});

test('values that JSON.parse would change are kept as written, and others are parsed', () => {
  const number = fc.oneof(
    fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => JSON.stringify(value)),
    fc.bigInt().map(String),
    fc.tuple(fc.bigInt(), fc.nat(30), fc.integer({ min: -400, max: 400 })).map(([a, b, e]) => `${a}.${b}e${e}`),
    fc.constantFrom('-0', '0', '1e400', '1E2', '0.1', '1.0', '-0.0'),
  );
  fc.assert(
    fc.property(number, (source) => {
      const written = JSON.stringify(parseExact(`{"n":[1,${source}]}`));
      const [, back = ''] = /^\{"n":\[1,(.*)\]\}$/.exec(written) ?? [];
      expect(decimal(back)).toEqual(decimal(source));
    }),
    runs(300),
  );
  expect(parseExact('{"n":1.50}')).toEqual({ n: 1.5 });
});

/** A number's sign, digits and exponent, exactly. */
function decimal(source: string): [string, string, bigint] {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const trimmed = digits.replace(/0+$/, '');
  const scale = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - trimmed.length);
  return [sign, trimmed, trimmed === '' ? 0n : scale];
}
