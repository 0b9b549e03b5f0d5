import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { isJson } from './json-check.ts';

const parses = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const noPause = async () => undefined;

describe('the check of a JSON text', () => {
  test('agrees with JSON.parse on texts that are nearly JSON', async () => {
    const nearly = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.nat(3),
        fc.string({ unit: fc.constantFrom(...'[]{}",:\\ 0e+.-tfnu\t\u0001'), maxLength: 3 }),
      )
      .map(([text, at, cut, put]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + put + text.slice(place + cut);
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), nearly), async (text) => {
        expect(await isJson(text, noPause), text).toBe(parses(text));
      }),
      runs(2_000),
    );
  });

  test.each([
    '',
    ' ',
    '1 2',
    '01',
    '-',
    '1.',
    '1e',
    '.5',
    '+1',
    'tru',
    'nul',
    '"',
    '"\\"',
    '"\\x"',
    '"\\u12g4"',
    '"\n"',
    '[',
    ']',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{,}',
    '{"a":1 "b":2}',
    '[}',
    '{]',
    '[1]]',
    '\ufeff1',
    ' [ ] ',
    '{ "a" : [ 1 , { } ] }',
    '-0.5E-7',
    '"\\u00e4\\n"',
    '\t1\r\n',
    'nullx',
    'null',
    '"a" ,',
  ])('agrees with JSON.parse on %j', async (text) => {
    expect(await isJson(text, noPause)).toBe(parses(text));
  });

  test('takes a thousand levels and no more', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(await isJson(nested(1_000), noPause)).toBe(true);
    expect(await isJson(nested(1_001), noPause)).toBe(false);
  });

  test.each([
    ['numbers', `[${'1,'.repeat(2_000_000)}1]`],
    ['objects', `[${'{},'.repeat(1_000_000)}{}]`],
    ['names', `{${'"n":1,'.repeat(500_000)}"n":1}`],
  ])('of many %s pauses every 256 KiB', async (_, text) => {
    const looked: number[] = [];
    expect(await isJson(text, async (characters) => void looked.push(characters))).toBe(true);
    expect(looked.length).toBe(Math.floor(text.length / (256 * 1024)));
    expect(Math.max(...looked)).toBeLessThan(257 * 1024);
  });

  test('of one very long string or number does not give up', async () => {
    const digits = '1'.repeat(12_000_000);
    expect(await isJson(`"${digits}"`, noPause)).toBe(true);
    expect(await isJson(`[${digits}]`, noPause)).toBe(true);
  });
});
