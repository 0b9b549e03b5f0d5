import { expect, test } from 'vitest';
import { createTexts } from './texts.ts';

test('gives back every text that was kept, whether there was room for it or not', () => {
  const texts = createTexts(16);
  const all = ['naïve', '日本', 'eight by', 'x'.repeat(20), '', 'é', '🚀🚀'];
  const kept = all.map(texts.keep);
  expect(kept.map(String)).toEqual(all);
  expect(kept.map((text) => typeof text === 'string')).toEqual([false, false, true, true, false, false, true]);
  texts.clear();
  expect(String(texts.keep('x'.repeat(16)))).toBe('x'.repeat(16));
});
