import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../contract/test/runs.ts';
import { findInJson, type JsonPlace } from './json-places.ts';
import { findPlaces, type Place } from './places.ts';
import { createTextSearch } from './text-search.ts';

const MARK = '[REDACTED:manual:00ff]';
const escaped = (text: string, times: number): string =>
  times === 0 ? text : escaped(JSON.stringify(text).slice(1, -1), times - 1);

/** Text that cannot contain the searched text by chance. */
const around = fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\n', '"', '\\', '/', '𝒳', '\t', '{', ':') });
const wanted = fc
  .string({ unit: fc.constantFrom('k', 'Q', '7', '"', '\\', '\n', 'ü', '/', '𝒳'), minLength: 4, maxLength: 20 })
  .filter((text) => /[kQ7]/.test(text) && !/^[\\]|[\\]$/.test(text));

function replace(text: string, places: readonly (Place | JsonPlace)[]): string {
  let masked = '';
  let from = 0;
  for (const place of places) {
    masked += text.slice(from, place.start) + ('isNumber' in place && place.isNumber ? JSON.stringify(MARK) : MARK);
    from = place.end;
  }
  return masked + text.slice(from);
}

const mask = (text: string, of: string): string => replace(text, findPlaces(text, createTextSearch(of)));
const maskJson = (json: string, of: string): string => replace(json, findInJson(json, createTextSearch(of)));

test('a text is found however often it is escaped, and the text around it stays unchanged', () => {
  fc.assert(
    fc.property(wanted, around, around, fc.integer({ min: 0, max: 4 }), (text, before, after, times) => {
      fc.pre(!before.endsWith('\\'));
      const written = escaped(before, times) + escaped(text, times) + escaped(after, times);
      expect(mask(written, text)).toBe(escaped(before, times) + MARK + escaped(after, times));
    }),
    runs(1_000),
  );
});

test('a text is found in every string of a JSON text, which stays valid JSON', () => {
  fc.assert(
    fc.property(wanted, fc.jsonValue(), fc.integer({ min: 0, max: 3 }), around, (text, value, times, before) => {
      const plant = (filler: string) =>
        JSON.stringify({
          text: before.replaceAll('\\', '') + escaped(filler, times),
          deep: [value, { [`a ${filler} key`]: filler }],
          source: { file: `/home/${filler}/x`, position: 4711 },
        });
      fc.pre(!JSON.stringify(value).includes(text));
      const json = plant(text);
      expect(JSON.parse(maskJson(json, text))).toEqual(JSON.parse(plant(MARK)));
    }),
    runs(500),
  );
});

test.each<[name: string, text: string, hay: string, masked: string]>([
  ['escaped as a number', 'geheim', 'a \\u0067eheim b', `a ${MARK} b`],
  ['with its slashes escaped', 'a/b/c', 'x a\\/b\\/c', `x ${MARK}`],
  ['with Windows line ends', 'one\ntwo', 'one\r\ntwo', MARK],
  ['with colours in it', 'secret', 'se\u001b[1mcr\u001b[0met', MARK],
  ['composed differently', 'café1', 'cafe\u03011', MARK],
  ['in a folder of Windows', 'new_secret', 'C:\\new_secret', `C:\\${MARK}`],
  ['twice', 'abcd', 'abcdabcd', MARK + MARK],
  ['across a mark', '4711]abc', '[REDACTED:manual:4711]abcd', `${MARK}d`],
])('a text is found %s', (_, text, hay, masked) => {
  expect(mask(hay, text)).toBe(masked);
});

test('marks stay unchanged', () => {
  expect(mask('[REDACTED:manual:00ff] manual', 'manual')).toBe(`[REDACTED:manual:00ff] ${MARK}`);
});

test('whole numbers are masked, except those that give the place of a record', () => {
  const json = '{"source":{"position":4711},"pin":4711,"longer":47110,"part":4711}';
  expect(maskJson(json, '4711')).toBe(`{"source":{"position":4711},"pin":"${MARK}","longer":47110,"part":4711}`);
});

test('the work depends on the length of the searched text, however it repeats itself', () => {
  const search = createTextSearch(`${'a'.repeat(9_999)}b`);
  const work = [100_000, 1_000_000].map((length) => {
    let read = 0;
    const hay = 'a'.repeat(length);
    const counting = {
      length,
      indexOf: (letter: string, from?: number) => hay.indexOf(letter, from),
      charCodeAt(at: number) {
        read++;
        return hay.charCodeAt(at);
      },
    };
    search(counting as unknown as string);
    return read / length;
  });
  expect(Math.max(...work)).toBeLessThan(4);
});

test('the time grows with the length of a text that has many marks and many pieces', () => {
  const text = `word [REDACTED:env:00ff] `.repeat(40_000);
  const begin = performance.now();
  expect(findPlaces(text, createTextSearch('word'))).toHaveLength(40_000);
  expect(performance.now() - begin).toBeLessThan(2_000);
});
