import { expect, test } from 'vitest';
import { findByRules, placesOf } from './find-by-rules.ts';
import { replaceEach } from './finder.ts';

/** An invented token in the format of a vendor. */
const TOKEN = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
const MARK = /\[REDACTED:[a-z-]+:[0-9a-f]{4}\]/g;

test.each([
  ['a one b', 'a [REDACTED:env:00ff] b'],
  ['one', '[REDACTED:env:00ff]'],
  ['one two one', '[REDACTED:env:00ff] two [REDACTED:env:00ff]'],
  ['b one b', 'b [REDACTED:env:00ff] b'],
  ['[REDACTED:env:00ff] and one', '[REDACTED:env:00ff] and [REDACTED:env:00aa]'],
  ['something else', 'written anew'],
  ['one b', '[REDACTED:env:00ff] b b'],
])('replacing its pieces in %j gives %j', (before, after) => {
  expect(replaceEach(before, placesOf(before, after))).toBe(after);
});

test('an existing mark is not a piece', () => {
  const places = placesOf('[REDACTED:env:00ff] and one', '[REDACTED:env:00ff] and [REDACTED:env:00aa]');
  expect(places).toEqual([{ start: 24, end: 27, text: '[REDACTED:env:00aa]' }]);
});

test('masking by rules changes nothing else in a JSON text and keeps field names', () => {
  const find = findByRules(new Uint8Array(32), 'ses_1');
  const json = `{ "text" : "a \\"b\\" ${TOKEN} \\u00e9", "n": 1.0, "password": "output", "output": ["${TOKEN}", "output"] }`;
  const masked = replaceEach(json, find.inJson(json, 'notice'));
  expect(masked).not.toContain(TOKEN);
  expect(masked.replace(MARK, '#').replaceAll(MARK, '#')).toMatch(
    /^\{ "text" : "a \\"b\\" # \\u00e9", "n": 1\.0, "password": "(#|output)", "output": \["#", "(#|output)"\] \}$/,
  );
  expect(find.inJson(masked, 'notice')).toEqual([]);
});
