import { expect, test } from 'vitest';
import { made } from '../../test/redaction/made.ts';
import { findCutToken } from './cut.ts';

const told = (text: string) => {
  const span = findCutToken(text);
  return span && text.slice(span.start, span.end);
};

test('finds a token that its text ends in the middle of', () => {
  const token = `ghp_${made('alnum', 36)}`;
  for (const length of [16, 24, 39]) expect(told(`x\ntoken ${token.slice(0, length)}`)).toBe(token.slice(0, length));
  expect(told(`${'x '.repeat(500)}sk-ant-api03-${made('url', 60)}`)).toMatch(/^sk-ant-/);
});

test.each([
  'what npm_lifecycle_event',
  'see sk-proj-your-key-here-please1',
  'a ghp_xxxxxxxxxxxxxxxxxxxx1',
  `ghp_${made('alnum', 20)} is not at the end`,
  `notghp_${made('alnum', 20)}`,
  'the rule hf_transfer_enabled',
  '',
])('%j is none', (text) => expect(told(text)).toBeUndefined());
