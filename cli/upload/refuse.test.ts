import { expect, test } from 'vitest';
import { halve } from './refuse.ts';

test('a batch that is sent in halves keeps the digits of its numbers', () => {
  const event = '{"eventType":"record","payload":{"rest":{"cost":12345678901234567890.10,"much":1e400}}}';
  const body = Buffer.from(`{"events":[${event},${event}]}`);
  const batch = { id: 1, session: 1, key: 'k', events: 2, firstAt: undefined, encoding: 'identity' };
  const halves = halve({ ...batch, body, number: 1, records: new Uint8Array() }) ?? [];
  expect(halves.map((half) => Buffer.from(half.body).toString())).toEqual(
    [event, event].map((one) => `{"events":[${one}]}`),
  );
});
