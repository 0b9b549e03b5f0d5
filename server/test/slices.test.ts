import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_PAYLOAD_BYTES, MAX_PAYLOAD_DEPTH } from '../../contract/event.ts';
import { slicePayloads } from '../ingest/slices.ts';
import { jsonSpace, jsonText, objectText } from './json-text.ts';
import { SEED, seeded } from './seed.ts';

const PAYLOAD_KEYS = ['"payload"', '"pay\\u006coad"', '"\\u0070ayload"'];
const OTHER_KEYS = ['"eventType"', '"Payload"', '"payload "', '"events"', '""', '"\\\\payload"', '"a\\"payload"'];

/** An event's text, and the text of the payload that counts: the last one. */
const eventText = fc
  .array(
    fc.oneof(
      fc.tuple(fc.constantFrom(...PAYLOAD_KEYS), objectText, fc.constant(true)),
      fc.tuple(fc.constantFrom(...OTHER_KEYS), jsonText, fc.constant(false)),
    ),
    { maxLength: 4 },
  )
  .chain((members) =>
    fc.array(jsonSpace, { minLength: members.length * 4 + 1, maxLength: members.length * 4 + 1 }).map((spaces) => {
      const at = (index: number) => spaces[index] ?? '';
      const written = members.map(([name, inner], i) => `${at(i)}${name}${at(i + 1)}:${at(i + 2)}${inner}${at(i + 3)}`);
      return { text: `{${written.join(',')}}`, payload: members.findLast(([, , counts]) => counts)?.[1] ?? '{}' };
    }),
  );

const eventList = fc
  .tuple(fc.array(fc.tuple(jsonSpace, eventText, jsonSpace), { maxLength: 5 }), jsonSpace)
  .map(([events, space]) => ({
    text: `[${space}${events.map(([before, { text }, after]) => before + text + after).join(',')}]`,
    payloads: events.map(([, { payload }]) => payload),
  }));

/** A body whose last `events` counts, among other members. */
const bodyText = fc
  .tuple(
    jsonSpace,
    fc.array(fc.tuple(fc.constantFrom('"idempotencyKey"', '"events"', '"payload"', '"x"'), jsonText), { maxLength: 3 }),
    fc.constantFrom('"events"', '"\\u0065vents"', '"event\\u0073"'),
    eventList,
    fc.array(fc.tuple(fc.constantFrom('"idempotencyKey"', '"Events"', '"payload"'), jsonText), { maxLength: 3 }),
  )
  .map(([space, before, name, events, after]) => {
    const write = (members: [string, string][]) => members.map(([key, inner]) => `${space}${key}${space}:${inner}`);
    const members = [...write(before), `${name}${space}:${space}${events.text}${space}`, ...write(after)];
    return { text: `${space}{${members.join(',')}}${space}`, payloads: events.payloads };
  });

describe('slicing payloads', () => {
  test(`finds the very text of each payload, as JSON.parse would have it ${seeded}`, () => {
    const property = fc.property(bodyText, ({ text, payloads }) => {
      const parsed = JSON.parse(text) as { events: { payload?: unknown }[] };
      const slices = slicePayloads(Buffer.from(text)).map(String);
      expect(slices).toEqual(payloads);
      const values = parsed.events.map((event) => JSON.stringify(Object.hasOwn(event, 'payload') ? event.payload : {}));
      expect(slices.map((slice) => JSON.stringify(JSON.parse(slice)))).toEqual(values);
    });
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
  });

  const body = (payload: string) => Buffer.from(`{"events":[{"payload":{}},{"payload":${payload}}]}`);
  const sized = (bytes: number, filler: string) => {
    const room = bytes - '{"a":""}'.length;
    const size = Buffer.byteLength(filler);
    return `{"a":"${filler.repeat(Math.floor(room / size))}${'x'.repeat(room % size)}"}`;
  };

  test.each(['x', 'é', '€', '😀', '\\u0000', '\\"'])('counts the bytes of a payload filled with %s', (filler) => {
    const largest = sized(MAX_PAYLOAD_BYTES, filler);
    expect(Buffer.byteLength(largest)).toBe(262_144);
    expect(slicePayloads(body(largest)).at(1)?.byteLength).toBe(262_144);
    expect(() => slicePayloads(body(sized(MAX_PAYLOAD_BYTES + 1, filler)))).toThrow(
      '/events/1/payload has 262145 bytes',
    );
  });

  const nested = (levels: number) =>
    `${'{"a":['.repeat(levels / 2)}${'{'.repeat(levels % 2)}${'}'.repeat(levels % 2)}${']}'.repeat(levels / 2)}`;

  test('counts the levels of a payload, itself being the first', () => {
    expect(slicePayloads(body(nested(MAX_PAYLOAD_DEPTH)))).toHaveLength(2);
    expect(() => slicePayloads(body(nested(MAX_PAYLOAD_DEPTH + 1)))).toThrow('/events/1/payload is nested deeper');
    expect(() => slicePayloads(body(nested(60_001)))).toThrow('/events/1/payload is nested deeper');
    expect(slicePayloads(body(`{"a":"${'['.repeat(500)}"}`))).toHaveLength(2);
  });

  test('what lies beside the payload may be as deep as it likes', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(slicePayloads(Buffer.from(`{"x":${deep},"events":[{"y":${deep},"payload":{}}]}`)).map(String)).toEqual([
      '{}',
    ]);
  });
});
