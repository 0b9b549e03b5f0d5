import { expect, test } from 'vitest';
import { createKnownEvents } from './known-events.ts';

const source = { agent: 'codex', session: 's', file: 'a.jsonl', position: 7 };
const toEvent = (payload: object) => JSON.stringify({ eventType: 'user.message', payload });
const event = (text: string, more: object = {}) => toEvent({ source: { ...source, ...more }, text });

/** Events of a session in the form of the service's answer. */
function know(...events: string[]) {
  const known = createKnownEvents();
  for (const [index, text] of events.entries()) known.add(0, { sequence: index + 1, ...known.digestEvent(text) });
  return known;
}

test('an event is recognised once for each time that it is known', () => {
  const known = know(event('one'), event('two'), event('one'));
  const asked = ['one', 'one', 'two', 'three'].map((text) => known.takeEvent(event(text, { position: 5 }))?.sequence);
  expect(asked).toEqual([1, 3, 2, undefined]);
});

test('an event is recognised by its text, by its text in a file that was moved, and by its record', () => {
  const record = { record: 'r1', index: 1 };
  for (const [told, sequence] of [
    [event('one', record), 1],
    [event('one', { ...record, file: 'b.jsonl', position: 0 }), 1],
    [event('[REDACTED:x:1]', { ...record, file: 'b.jsonl', position: 0 }), 1],
    [event('other', { ...record, index: 2 }), undefined],
    [event('other', { ...record, revision: 2 }), undefined],
    [event('other', { ...record, record: 'r2' }), undefined],
  ] as const) {
    expect(know(event('one', record)).takeEvent(told)?.sequence, told).toBe(sequence);
  }
});

test('an event without a record is recognised by its place, and a part by its number', () => {
  expect(know(event('one')).takeEvent(event('other'))?.sequence).toBe(1);
  expect(know(event('one')).takeEvent(event('other', { position: 8 }))).toBeUndefined();
  const part = (number: number, json: string) => toEvent({ source, part: number, of: 2, json });
  const known = know(part(1, 'a'), part(2, 'b'));
  expect([part(2, 'c'), part(2, 'b'), part(1, 'a')].map((one) => known.takeEvent(one)?.sequence)).toEqual([
    2,
    undefined,
    1,
  ]);
});

test('an event with the same text as an earlier one of its file is another event', () => {
  const known = know(event('one'));
  expect(known.takeEvent(event('one', { position: 8 }))).toBeUndefined();
  expect(known.takeEvent(event('one'))?.sequence).toBe(1);
});

test('an event that was not made from a record is never recognised', () => {
  const byHand = toEvent({ text: 'by hand' });
  expect(know(byHand).takeEvent(byHand)).toBeUndefined();
});

test('further reads by others are expected, and skipped events are not', () => {
  const known = know(event('one'), event('two', { position: 9 }), event('other', { position: 8 }));
  expect(known.isExpecting()).toBe(true);
  known.takeEvent(event('one'));
  expect(known.isExpecting()).toBe(true);
  known.takeEvent(event('two', { position: 9 }));
  expect(known.isExpecting()).toBe(false);
  known.add(0, { sequence: 4, ...known.digestEvent(event('new', { file: 'b.jsonl' })) });
  expect(known.isExpecting()).toBe(true);
});
