import { expect, test } from 'vitest';
import { made } from '../rules/made.ts';
import { createKnownFinder } from './finder.ts';

const secret = made('alnum', 40);
const find = createKnownFinder([secret]);
const found = (text: string) => find(text).map(({ start, end }) => text.slice(start, end));

test('finds a value whose end is in the next chunk, and one whose beginning was in the last', () => {
  for (const cut of [14, 20, 26]) {
    expect(found(`… SECRET=${secret.slice(0, cut)}`)).toContain(secret.slice(0, cut));
    expect(found(`${secret.slice(cut)}\nnext line`)).toContain(secret.slice(cut));
  }
});

test('finds both halves in an encoding too', () => {
  const hex = Buffer.from(secret).toString('hex');
  expect(found(`x ${hex.slice(0, 37)}`)).toEqual([hex.slice(0, 37)]);
  expect(found(`${hex.slice(37)} x`)).toEqual([hex.slice(37)]);
});

test('a short piece, or one in the middle of a text, is no value', () => {
  expect(found(`x ${secret.slice(0, 11)}`)).toEqual([]);
  expect(found(`${secret.slice(-11)} x`)).toEqual([]);
  expect(found(`x ${secret.slice(0, 30)} x ${secret.slice(10)} x`)).toEqual([]);
});
