import { expect, test } from 'vitest';
import { createHeldEvents } from './held.ts';

const source = { agent: 'codex', session: 's', file: 'a.jsonl', position: 7 };
const payload = (text: string, more: object = {}) => JSON.stringify({ source: { ...source, ...more }, text });

/** Events of a session as the service would tell of them. */
function hold(...payloads: string[]) {
  const held = createHeldEvents();
  for (const [index, text] of payloads.entries()) {
    held.add(0, { sequence: index + 1, eventType: 'user.message', ...held.digestPayload(text) });
  }
  return held;
}

test('an event is recognised once for each time that it is held', () => {
  const held = hold(payload('one'), payload('two'), payload('one'));
  const asked = ['one', 'one', 'two', 'three'].map(
    (text) => held.takePayload(payload(text, { position: 5 }))?.likeness,
  );
  expect(asked).toEqual(['moved', 'moved', 'moved', undefined]);
});

test('an event is recognised by its text, by its text in a file that was moved, and by its record', () => {
  const record = { record: 'r1', index: 1 };
  for (const [told, likeness] of [
    [payload('one', record), 'same'],
    [payload('one', { ...record, file: 'b.jsonl', position: 0 }), 'moved'],
    [payload('[REDACTED:x:1]', { ...record, file: 'b.jsonl', position: 0 }), 'altered'],
    [payload('other', { ...record, index: 2 }), undefined],
    [payload('other', { ...record, revision: 2 }), undefined],
    [payload('other', { ...record, record: 'r2' }), undefined],
  ] as const) {
    expect(hold(payload('one', record)).takePayload(told)?.likeness, told).toBe(likeness);
  }
});

test('what has no record is recognised by its place, and of parts each by its number', () => {
  expect(hold(payload('one')).takePayload(payload('other'))?.likeness).toBe('altered');
  expect(hold(payload('one')).takePayload(payload('other', { position: 8 }))).toBeUndefined();
  const part = (number: number, json: string) => JSON.stringify({ source, part: number, of: 2, json });
  const held = hold(part(1, 'a'), part(2, 'b'));
  expect([part(2, 'c'), part(2, 'b'), part(1, 'a')].map((one) => held.takePayload(one)?.likeness)).toEqual([
    'altered',
    undefined,
    'same',
  ]);
});

test('an event that says the same as an earlier one of its file is another one', () => {
  const held = hold(payload('one'));
  expect(held.takePayload(payload('one', { position: 8 }))).toBeUndefined();
  expect(held.takePayload(payload('one'))?.likeness).toBe('same');
});

test('what was not made from a record is never recognised', () => {
  expect(hold('{"text":"by hand"}').takePayload('{"text":"by hand"}')).toBeUndefined();
});

test('what others have read further than was asked for is expected, and what was passed by is not', () => {
  const held = hold(payload('one'), payload('two', { position: 9 }), payload('other', { position: 8 }));
  expect(held.isExpecting()).toBe(true);
  held.takePayload(payload('one'));
  expect(held.isExpecting()).toBe(true);
  held.takePayload(payload('two', { position: 9 }));
  expect(held.isExpecting()).toBe(false);
  held.add(0, { sequence: 4, eventType: 'user.message', ...held.digestPayload(payload('new', { file: 'b.jsonl' })) });
  expect(held.isExpecting()).toBe(true);
});
