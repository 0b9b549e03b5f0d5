import { expect, test } from 'vitest';
import { createKeywordScanner } from './keywords.ts';
import { made } from './test/made.ts';
import { createValueIndex } from './value-index.ts';

const secret = made('alnum', 40);
const scan = createKeywordScanner(['token']);

function open(...secrets: string[]) {
  const index = createValueIndex();
  for (const each of secrets) index.add({ secret: each, rule: 'known-value' });
  return index;
}

function findIn(index: ReturnType<typeof open>, text: string, ...scopes: string[]): string[] {
  const found: string[] = [];
  scan(
    text,
    () => {},
    index.filter(),
    (hash, end) => {
      const span = index.find(text, hash, end, new Set(scopes));
      if (span !== undefined) found.push(text.slice(span.start, span.end));
    },
  );
  return found;
}

const known = open(secret);
const found = (text: string) => findIn(known, text);

test('a value whose end is in the next chunk is found, and so is one whose beginning was in the last', () => {
  for (const cut of [14, 20, 26]) {
    expect(found(`… SECRET=${secret.slice(0, cut)}`)).toContain(secret.slice(0, cut));
    expect(found(`${secret.slice(cut)}\nnext line`)).toContain(secret.slice(cut));
  }
});

test('both halves are found in an encoding too', () => {
  const hex = Buffer.from(secret).toString('hex');
  expect(found(`x ${hex.slice(0, 37)}`)).toEqual([hex.slice(0, 37)]);
  expect(found(`${hex.slice(37)} x`)).toEqual([hex.slice(37)]);
});

test('a short piece, or one in the middle of a text, is not a value', () => {
  expect(found(`x ${secret.slice(0, 11)}`)).toEqual([]);
  expect(found(`${secret.slice(-11)} x`)).toEqual([]);
  expect(found(`x ${secret.slice(0, 30)} x ${secret.slice(10)} x`)).toEqual([]);
});

test.each<[string, (text: string) => string]>([
  ['at the width of a terminal', (text) => text.replace(/(.{20})/g, '$1\n')],
  ['as a diff shows it', (text) => text.replace(/(.{25})/g, '$1\n+ ')],
  ['in escaped text', (text) => text.replace(/(.{25})/g, '$1\\\\n')],
  ['by a backslash', (text) => text.replace(/(.{30})/g, '$1\\\n  ')],
  ['by a colour', (text) => `${text.slice(0, 20)}\u001b[01;31m${text.slice(20, 30)}\u001b[0m${text.slice(30)}`],
  ['by letters of no width', (text) => text.replace(/(.{18})/g, '$1\u200b')],
])('finds a value that is broken %s', (_how, write) => {
  expect(found(`x ${write(secret)} y`)).toHaveLength(1);
  expect(found(`x ${write(secret)} y`)[0]).toContain(secret.slice(-3));
});

test('a value that is broken in another way is another text', () => {
  expect(found(`x ${secret.slice(0, 20)} ${secret.slice(20)} y`)).toEqual([]);
});

test('a value of one scope is not found in another, nor after it was dropped', () => {
  const index = createValueIndex();
  const [one, two] = [made('alnum', 30, 1), made('alnum', 30, 2)];
  index.add({ secret: one, rule: 'a' }, 'shop');
  index.add({ secret: two, rule: 'a' });
  expect(findIn(index, `${one} ${two}`, 'shop')).toEqual([one, two]);
  expect(findIn(index, `${one} ${two}`, 'bank')).toEqual([two]);
  index.drop('shop');
  expect(findIn(index, `${one} ${two}`, 'shop')).toEqual([two]);
});

test('the longer of two values with the same beginning wins, and a whole value wins over a broken one', () => {
  const index = open(secret.slice(0, 20), secret);
  expect(findIn(index, `${secret} .`)).toContain(secret);
  expect(findIn(index, `${secret.slice(0, 20)} .`)).toEqual([secret.slice(0, 20)]);
});

test('thousands of values are all found, and hardly any other text is compared with them', () => {
  const values = Array.from({ length: 2000 }, (_, number) => made('alnum', 32, number));
  const index = open(...values);
  expect(values.filter((value) => findIn(index, `x ${value} y`)[0] !== value)).toEqual([]);
  let compared = 0;
  scan(
    made('base64', 100_000),
    () => {},
    index.filter(),
    () => compared++,
  );
  expect(compared).toBeLessThan(5000);
});

test('a value that was dropped long ago costs nothing', () => {
  const index = createValueIndex();
  for (let number = 0; number < 3000; number++) {
    index.add({ secret: made('alnum', 32, number), rule: 'a' }, `session ${number}`);
    index.drop(`session ${number}`);
  }
  let compared = 0;
  scan(
    made('base64', 100_000),
    () => {},
    index.filter(),
    () => compared++,
  );
  expect(compared).toBeLessThan(5000);
});
