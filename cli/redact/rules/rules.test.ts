import { expect, test } from 'vitest';
import { RULE_EXAMPLES } from '../../test/redaction/rule-examples.ts';
import { createKeywordScanner } from '../keywords.ts';
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

const ids = [...new Set(RULES.map((rule) => rule.id))];

test('rule ids fit into a mark, and keywords are in lower case', () => {
  for (const id of ids) expect(id).toMatch(/^[a-z0-9-]{2,40}$/);
  expect(RULES.filter(({ keywords }) => keywords.some((word) => word === '' || word !== word.toLowerCase()))).toEqual(
    [],
  );
  expect(Object.keys(RULE_EXAMPLES).filter((id) => !ids.includes(id))).toEqual([]);
});

test.each(ids)('%s finds its examples and nothing else', (id) => {
  const { hit, miss } = RULE_EXAMPLES[id] ?? { hit: [], miss: [] };
  const rules = RULES.filter((rule) => rule.id === id);
  expect(hit.length).toBeGreaterThan(0);
  expect(miss.length).toBeGreaterThan(0);
  expect(hit.filter((text) => matches(rules, text).length === 0)).toEqual([]);
  // In the middle of a line, of escaped text and of an address.
  const after = id === 'cut-token' ? '' : ' there';
  expect(hit.filter((text) => matches(rules, `see\\n${text}${after}`).length === 0)).toEqual([]);
  expect(miss.filter((text) => matches(rules, text).length > 0)).toEqual([]);
});

test('more keywords than the scanner can tell apart are refused, instead of being missed', () => {
  const words = Array.from({ length: 4_000 }, (_, n) => `${n.toString(36).padStart(4, 'x')}-keyword`);
  expect(() => createKeywordScanner(words)).toThrow(/32767 is the most/);
});
