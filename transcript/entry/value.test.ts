import { expect, test } from 'vitest';
import { promptLine } from './value.ts';

test.each([
  ['Fix the build', 'Fix the build'],
  ['Implement the following plan:\n\n# Rate limits per key\n\n## Context', 'Rate limits per key'],
  ['[[ ## user_query ## ]]\nhow do I sort', 'how do I sort'],
  ['<task>\n  Read the tests\n</task>', 'Read the tests'],
  ['---\n```\nls\n```', 'ls'],
  ['# Task: find it', 'Task: find it'],
  ['Fix these:', 'Fix these:'],
  ['\n\n', ''],
  ['修复这个错误', '修复这个错误'],
  ['See https://example.com/a:\nthen go', 'See https://example.com/a:'],
])('the prompt %j is about %j', (text, about) => {
  expect(promptLine(text)).toBe(about);
});
