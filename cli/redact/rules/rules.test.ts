import { expect, test } from 'vitest';
import { createKeywordScanner } from '../keywords.ts';
import { RULES } from './all.ts';
import { matchRule, prepareRules } from './match.ts';
import type { Rule } from './rule.ts';

function matches(rule: Rule, text: string): string[] {
  const prepared = prepareRules([rule]);
  const found: string[] = [];
  createKeywordScanner(prepared.keywords)(text, (keyword, start) => {
    for (const each of prepared.byKeyword[keyword] ?? []) {
      const span = matchRule(each, text, start);
      if (span !== undefined) found.push(text.slice(span.start, span.end));
    }
  });
  return found;
}

test('rule ids are unique and fit into a mark', () => {
  const ids = RULES.map((rule) => rule.id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z0-9-]{2,40}$/);
});

test.each(RULES.map((rule) => [rule.id, rule] as const))('%s finds its examples and nothing else', (_id, rule) => {
  expect(rule.examples.hit.length).toBeGreaterThan(0);
  expect(rule.examples.miss.length).toBeGreaterThan(0);
  expect(rule.keywords).toEqual(rule.keywords.map((keyword) => keyword.toLowerCase()));
  expect(rule.examples.hit.filter((text) => matches(rule, text).length === 0)).toEqual([]);
  // In the middle of a line, of escaped text and of an address.
  expect(rule.examples.hit.filter((text) => matches(rule, `see\\n${text} there`).length === 0)).toEqual([]);
  expect(rule.examples.miss.filter((text) => matches(rule, text).length > 0)).toEqual([]);
});
