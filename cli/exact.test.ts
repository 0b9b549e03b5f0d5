import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../contract/test/runs.ts';
import { unfoldColumns } from './agents/shared/database.ts';
import { parseExact } from './exact.ts';

const EXACT = '12345678901234567890.5';

test.each([
  ['at its beginning', (number: string) => `[${number},"${'a, b: [c '.repeat(50_000)}"]`],
  ['at its end', (number: string) => `["${'a, b: [c '.repeat(50_000)}",${number}]`],
  ['after a text without any sign', (number: string) => `{"a":"${'x'.repeat(200_000)}","b":${number}}`],
  ['after many blanks', (number: string) => `{"a":${' '.repeat(200_000)}${number}}`],
])('a number that no double represents is kept exactly %s of a long text', (_where, write) => {
  const text = write(EXACT);
  expect(JSON.stringify(parseExact(text))).toContain(EXACT);
});

test('anywhere in a long text', () => {
  const at = fc.integer({ min: 16_300, max: 16_500 });
  const filler = fc.constantFrom('x', ',', ':', '[', ', ', ' ');
  fc.assert(
    fc.property(at, filler, fc.constantFrom(EXACT, '-0', '1e400'), (length, letter, number) => {
      const text = `{"a":"${letter.repeat(length)}","b":${number},"c":"${'x'.repeat(20_000)}"}`;
      expect(JSON.stringify(parseExact(text))).toBe(text);
    }),
    runs(100),
  );
});

test('JSON that is nested over 500 levels deep is invalid, and such a cell of a database stays text', () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)},"b":"${'x'.repeat(1000)}"}`;
  expect(JSON.stringify(parseExact(nested(500)))).toBe(nested(500));
  for (const depth of [501, 50_000]) {
    expect(() => parseExact(nested(depth))).toThrow();
    expect(unfoldColumns({ data: nested(depth) }, () => true)).toEqual({ data: nested(depth) });
  }
});
