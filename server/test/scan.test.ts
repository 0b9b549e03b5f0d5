import { describe, expect, test } from 'vitest';
import { MAX_PAYLOAD_BYTES, MAX_PAYLOAD_DEPTH } from '../../contract/event.ts';
import { scanAppend } from '../ingest/scan/append.ts';

const ONE = '{"eventType":"a"}';
const around = (value: string) => `{"x":${value},"events":[${ONE}]}`;
const withFields = (fields: string) => `{"events":[{"eventType":"a",${fields}}]}`;
const scan = (text: string | Buffer) => scanAppend(Buffer.from(text as string));
const found = (text: string) => {
  const { events, idempotencyKey } = scan(text);
  return { events: events.map(({ eventType, payload }) => [eventType, payload.toString()]), idempotencyKey };
};
const refused = (code: string, says: RegExp) => expect.objectContaining({ code, message: expect.stringMatching(says) });
const problemOf = (text: string | Buffer) => {
  try {
    return scan(text);
  } catch (error) {
    return error;
  }
};

describe('of a repeated name', () => {
  test.each([
    ['the last type', `{"events":[{"eventType":1,"eventType":"b"}]}`, [['b', '{}']]],
    ['the last payload', withFields('"payload":[],"payload":{"a":1},"payload":{"a": 2}'), [['a', '{"a": 2}']]],
    ['the last list', `{"events":1,"events":[{}],"events":[${ONE},${ONE}]}`, Array(2).fill(['a', '{}'])],
    ['the shorter list', `{"events":[${Array(60).fill(ONE)}],"events":[${ONE}]}`, [['a', '{}']]],
    ['a name with escapes', `{"events":[],"\\u0065vent\\u0073":[{"\\u0065ventType":"b"}]}`, [['b', '{}']]],
    ['a payload that fits', withFields(`"payload":${'['.repeat(200)}${']'.repeat(200)},"payload":{}`), [['a', '{}']]],
  ])('%s counts', (_, text, events) => {
    expect(found(text)).toEqual({ events, idempotencyKey: undefined });
  });

  test.each([
    ['type', `{"events":[{"eventType":"b","eventType":1}]}`, /^\/events\/0\/eventType must be a string/],
    ['payload', withFields('"payload":{},"payload":[]'), /^\/events\/0\/payload must be an object/],
    ['list', `{"events":[${ONE}],"events":{}}`, /^\/events must be a list/],
    ['key', `{"events":[${ONE}],"idempotencyKey":"k","idempotencyKey":7}`, /^\/idempotencyKey must be a string/],
  ])('the last %s is the one that is checked', (_, text, says) => {
    expect(problemOf(text)).toEqual(refused('validation_failed', says));
  });

  test('similar names do not count', () => {
    const names = [
      'Events',
      'events ',
      'event',
      'eventss',
      '\\\\events',
      'events\\"',
      '\\u0045vents',
      '\\u0065vent',
      'e\\/vents',
    ];
    const others = names.map((name) => `"${name}":1`).join(',');
    expect(found(`{"events":[${ONE}],${others},"__proto__":{"events":1}}`).events).toEqual([['a', '{}']]);
    expect(() => scan('{"__proto__":{"events":[{"eventType":"a"}]}}')).toThrow('/events is missing');
  });
});

describe('the limits of an append', () => {
  const typed = (type: string) => `{"events":[{"eventType":"${type}"}]}`;

  test.each(['x', 'é', '😀', '\\ud83d\\ude00', '\\ud800', '\\u0041'])('a type has at most 256 of %s', (character) => {
    const [event] = scan(typed(character.repeat(256))).events;
    expect(event?.eventType).toBe(JSON.parse(`"${character}"`).repeat(256));
    expect(() => scan(typed(character.repeat(257)))).toThrow(
      '/events/0/eventType must not have more than 256 characters',
    );
  });

  test.each(['', '\\n', '\\u0000', '\\u007f', '\x7f', '\u0085', '\\u009F'])('a type may not be %j', (type) => {
    expect(problemOf(typed(type))).toEqual(refused('validation_failed', /^\/events\/0\/eventType must /));
  });

  const keyed = (key: string) => `{"events":[${ONE}],"idempotencyKey":"${key}"}`;

  test('a key has at most 255 visible ASCII characters', () => {
    expect(found(keyed('k'.repeat(255))).idempotencyKey).toBe('k'.repeat(255));
    expect(found(keyed('\\u006b~!')).idempotencyKey).toBe('k~!');
    for (const key of ['', 'a b', 'é', '\\u007f', 'k'.repeat(256)])
      expect(() => scan(keyed(key))).toThrow(/^\/idempotencyKey must /);
  });

  const padded = (payload: string) => `{"events":[${ONE},{"eventType":"b","payload":${payload}}]}`;
  const sized = (bytes: number, filler: string) => {
    const room = bytes - '{"a":""}'.length;
    const size = Buffer.byteLength(filler);
    return `{"a":"${filler.repeat(Math.floor(room / size))}${'x'.repeat(room % size)}"}`;
  };

  test.each(['x', 'é', '€', '😀', '\\u0000', '\\"'])(
    'a payload has at most 256 KiB as sent, filled with %s',
    (filler) => {
      const largest = sized(MAX_PAYLOAD_BYTES, filler);
      expect(scan(padded(largest)).events[1]?.payload).toEqual(Buffer.from(largest));
      expect(problemOf(padded(sized(MAX_PAYLOAD_BYTES + 1, filler)))).toEqual(
        refused(
          'validation_failed',
          /^\/events\/1\/payload has 262145 bytes, and 262144 is the most\. Split it over several events\. Nothing of the batch was stored\.$/,
        ),
      );
    },
  );

  const nested = (levels: number) =>
    `${'{"a":['.repeat(levels / 2)}${'{'.repeat(levels % 2)}${'}'.repeat(levels % 2)}${']}'.repeat(levels / 2)}`;

  test('a payload has at most 128 levels, counting itself', () => {
    expect(scan(padded(nested(MAX_PAYLOAD_DEPTH))).events).toHaveLength(2);
    expect(scan(padded(`{"a":"${'['.repeat(500)}"}`)).events).toHaveLength(2);
    for (const levels of [MAX_PAYLOAD_DEPTH + 1, 60_001]) {
      expect(() => scan(padded(nested(levels)))).toThrow(
        '/events/1/payload is nested deeper than 128 levels. Nothing of the batch was stored.',
      );
    }
  });

  test('values beside a payload may have any depth', () => {
    const mixed = nested(1_000_001);
    expect(found(`{"x":${mixed},"events":[{"y":${mixed},"eventType":"a","payload":{}}]}`).events).toEqual([
      ['a', '{}'],
    ]);
    // Wrong at the bottom, and at each level above: the scan knows at each level whether it is in an object or a list.
    expect(() => scan(around(mixed.replace('{}', '{]')))).toThrow('is not allowed there');
    expect(() => scan(around(mixed.replace(/\]\}$/, '}]')))).toThrow('is not allowed there');
    expect(() => scan('['.repeat(1_000_000))).toThrow('ends too early');
  });

  test.each([
    ['numbers', `{"events":[${Array(1_000_000).fill('1')}]}`, /^\/events must be a list of 1 to 50 events/],
    ['empty lists', `{${Array(200_000).fill('"events":[]')},"x":1}`, /^\/events must be a list of 1 to 50 events/],
    ['wrong lists', `{${Array(200_000).fill('"events":[{}]')}}`, /^\/events\/0\/eventType is missing/],
    ['a type', typed('x'.repeat(2_000_000)), /^\/events\/0\/eventType must not have more than 256 characters/],
  ])('millions of bytes of %s are refused with one short message', (_, text, says) => {
    expect(problemOf(text)).toEqual(refused('validation_failed', says));
  });
});
