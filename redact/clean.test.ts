import { expect, test } from 'vitest';
import { createCleanTexts } from './clean.ts';
import { RULES } from './rules/all.ts';
import { createSessions } from './sessions.ts';
import { createTextRedactor } from './text.ts';
import { createValueIndex } from './value-index.ts';

const KEY = new Uint8Array(32);
const SECRET = 'kF83hsLq02MxPz71';

/** A redactor of texts that counts how often it searches each text. */
function createCounted() {
  const index = createValueIndex();
  const counted = { passes: 0 };
  const filter = () => {
    counted.passes++;
    return index.filter();
  };
  const sessionOf = createSessions(KEY, index);
  const { redactText, redactKnown } = createTextRedactor(RULES, { ...index, filter }, new Set());
  const passOf = (name: string) => ({ session: sessionOf(name), count() {} });
  return { counted, index, passOf, redactText, redactKnown };
}

test('a text without findings is searched once, however often it repeats', () => {
  const { counted, passOf, redactText, redactKnown } = createCounted();
  const pass = passOf('codex 1');
  for (let times = 0; times < 10; times++) {
    expect(redactText('/home/dev/shop/src/cart.ts', pass)).toBe('/home/dev/shop/src/cart.ts');
    expect(redactKnown('/home/dev/shop/src/cart.ts', pass)).toBe('/home/dev/shop/src/cart.ts');
  }
  expect(counted.passes).toBe(2);
});

test('a text with a secret in it is masked each time', () => {
  const { passOf, redactText } = createCounted();
  const text = `export STRIPE_API_KEY=${SECRET}`;
  const pass = passOf('codex 1');
  expect(redactText(text, pass)).not.toContain(SECRET);
  expect(redactText(text, pass)).not.toContain(SECRET);
});

test('a secret that is learned later is masked in a text that passed for clean', () => {
  const { index, passOf, redactText } = createCounted();
  const text = `curl -u dev ${SECRET}`;
  expect(redactText(text, passOf('codex 1'))).toContain(SECRET);
  passOf('codex 1').session.remember('slack-token', SECRET);
  expect(redactText(text, passOf('codex 1'))).not.toContain(SECRET);
  expect(redactText(text, passOf('codex 2'))).toContain(SECRET);
  index.add({ secret: SECRET, rule: 'known-value' });
  expect(redactText(text, passOf('codex 2'))).not.toContain(SECRET);
});

test('the secrets of a repository are masked once a session works in it', () => {
  const { index, passOf, redactText, redactKnown } = createCounted();
  index.add({ secret: SECRET, rule: 'known-value' }, '/home/dev/shop');
  const pass = passOf('codex 1');
  expect(redactText(`it says ${SECRET}`, pass)).toContain(SECRET);
  expect(redactKnown(`/tmp/${SECRET}`, pass)).toContain(SECRET);
  pass.session.addRepository('/home/dev/shop');
  expect(redactText(`it says ${SECRET}`, pass)).not.toContain(SECRET);
  expect(redactKnown(`/tmp/${SECRET}`, pass)).not.toContain(SECRET);
});

test('only some of many texts are kept, and no long one', () => {
  const clean = createCleanTexts({ version: () => 1 });
  const scopes = new Set<string>();
  const kept = (texts: string[]) => texts.filter((text) => clean.has(text, scopes)).length;
  const texts = Array.from({ length: 3000 }, (_, n) => `${n} `.padEnd(1024, 'words '));
  expect(kept(texts)).toBe(0);
  for (const text of texts) clean.add(text);
  expect(kept(texts)).toBeGreaterThan(0);
  expect(kept(texts)).toBeLessThanOrEqual(1024);
  const long = 'words '.repeat(100_000);
  clean.add(long);
  expect(kept([long])).toBe(0);
});
