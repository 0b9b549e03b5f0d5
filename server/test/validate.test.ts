import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { AppendBody } from '../../contract/event.ts';
import { createValidate } from '../http/validate.ts';

/** A list that counts the reads of its items. */
function counted(items: unknown[]): { list: unknown[]; looks: () => number } {
  let looks = 0;
  const list = new Proxy(items, {
    get(target, name, receiver) {
      if (typeof name === 'string' && /^\d+$/.test(name)) looks++;
      return Reflect.get(target, name, receiver);
    },
  });
  return { list, looks: () => looks };
}

test('a long list of invalid items is refused after reading a few of them', () => {
  const { list, looks } = counted(Array.from({ length: 100_000 }, () => 1));
  expect(() => createValidate(AppendBody)({ events: list })).toThrow(/^\/events\/0 must be object/);
  expect(looks()).toBeLessThan(1_000);
});

test('a list of too many valid items is refused for its length', () => {
  const events = Array.from({ length: 100_000 }, () => ({ eventType: 'notice' }));
  expect(() => createValidate(AppendBody)({ events })).toThrow(/^\/events must not have more than 50 items/);
});

test('an invalid item of a nested list is named by its pointer', () => {
  const Rows = Type.Array(Type.Object({ cells: Type.Array(Type.Integer(), { maxItems: 3 }) }), { maxItems: 2 });
  const validate = createValidate(Type.Object({ rows: Rows }));
  expect(() => validate({ rows: [{ cells: [1] }, { cells: [1, 'x'] }] })).toThrow(/^\/rows\/1\/cells\/1 /);
  expect(() => validate({ rows: [{ cells: [1, 2, 3, 4] }] })).toThrow(/^\/rows\/0\/cells /);
});
