import { expect, test } from 'vitest';
import { isVisible, removeHidden } from '../visible.ts';

test.each([
  'Ada’s Mac',
  'Équipe 1',
  '👩\u200d💻 Team',
  '👨🏽\u200d🚀',
  '❤\ufe0f\u200d🔥',
  'می\u200cخواهم',
  'क\u094d\u200dष',
])('%s is a name that people can read', (name) => {
  expect(isVisible(name)).toBe(true);
  expect(removeHidden(name)).toBe(name);
});

test.each([
  ['a joiner between letters that it does not join', 'mi\u200dke', 'mike'],
  ['a mark of direction', 'a\u202eb', 'ab'],
  ['a joiner that joins nothing', '👩\u200d', '👩'],
  ['a line feed', 'a\nb', 'ab'],
  ['nothing else', '\u200b', ''],
])('a name with %s is refused, or loses it', (_, name, cleaned) => {
  expect(isVisible(name)).toBe(false);
  expect(removeHidden(name)).toBe(cleaned);
});
