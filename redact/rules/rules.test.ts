import { expect, test } from 'vitest';
import { createKeywordScanner } from '../keywords.ts';
import { made, makeExample } from '../test/made.ts';
import { RULES } from './all.ts';
import { groupByKeyword, matchRule } from './match.ts';
import type { Rule } from './rule.ts';

function matches(rules: readonly Rule[], text: string): string[] {
  const grouped = groupByKeyword(rules);
  const found: string[] = [];
  createKeywordScanner(grouped.keywords)(text, (keyword, start) => {
    for (const each of grouped.byKeyword[keyword] ?? []) {
      const span = matchRule(each, text, start);
      if (span !== undefined) found.push(text.slice(span.start, span.end));
    }
  });
  return found;
}

test('rule ids fit into a mark, and keywords are in lower case', () => {
  for (const { id } of RULES) expect(id).toMatch(/^[a-z0-9-]{2,40}$/);
  expect(RULES.filter(({ keywords }) => keywords.some((word) => word === '' || word !== word.toLowerCase()))).toEqual(
    [],
  );
});

const ROWS = RULES.map((rule, row) => [rule.id, row, rule] as const);

test.each(ROWS)('%s in row %i finds its examples and nothing else', (id, _row, rule) => {
  const [yes, no] = [rule.yes, rule.no].map((each) => each.map(makeExample));
  expect(rule.yes.length).toBeGreaterThan(0);
  expect(rule.no.length).toBeGreaterThan(0);
  expect(yes?.filter((text) => matches([rule], text).length === 0)).toEqual([]);
  // In the middle of a line, of escaped text and of an address.
  const after = id === 'cut-token' ? '' : ' there';
  expect(yes?.filter((text) => matches([rule], `see\\n${text}${after}`).length === 0)).toEqual([]);
  expect(no?.filter((text) => matches([rule], text).length > 0)).toEqual([]);
});

test.each(['npm_', 'ddp_', 'hf_', 'aio_', 'alcht_', 'gsk_', 'figd_', 'tfp_', 'ntn_'])(
  'a token with %s that is longer than they are now is masked whole',
  (beginning) => {
    const token = `${beginning}${made('alnum', 48)}`;
    expect(matches(RULES, `token: ${token}`)).toContain(token);
  },
);

test('the beginning of a wrapped base64 line is not the beginning of a token', () => {
  const token = `ABSK${made('base64', 72)}`;
  expect(matches(RULES, `key:\n${token}`)).toEqual([token]);
  for (const end of ['\n', '\r\n']) {
    const lines = [1, 2, 3].map((seed) => made('base64', 76, seed)).join(end);
    expect(matches(RULES, `${lines}${end}${token}${end}${lines}`)).toEqual([]);
  }
});

test('too many keywords for the scanner are refused rather than missed', () => {
  const words = Array.from({ length: 4_000 }, (_, n) => `${n.toString(36).padStart(4, 'x')}-keyword`);
  expect(() => createKeywordScanner(words)).toThrow(/32767 is the most/);
});
