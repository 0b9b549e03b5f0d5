import { describe, expect, test } from 'vitest';
import { scanBulk } from '../ingest/scan/bulk.ts';

const BODY = '{"events":[{"eventType":"a"}]}';
const KEYS = '"sessionId":"ses_1","idempotencyKey":"k"';
const BATCH = `{${KEYS},"body":${BODY}}`;
const bulk = (...batches: string[]) => `{"appends":[${batches.join(',')}]}`;
const scan = (text: string) => scanBulk(Buffer.from(text), 3);

describe('a scan of a bulk', () => {
  test('finds each append, and the bytes of its body', () => {
    const spaced = '{ "events" : [ {"eventType":"b", "payload": {"c": 1.0}} ], "idempotencyKey": 7 }';
    const batches = scan(
      ` { "x":[{}], "appends":[ ${BATCH} , {"body": ${spaced} ,"idempotencyKey":"l","sessionId":"ses_2"} ] } `,
    );
    expect(batches).toEqual([
      {
        sessionId: 'ses_1',
        idempotencyKey: 'k',
        bytes: Buffer.from(BODY),
        events: [{ eventType: 'a', payload: Buffer.from('{}') }],
      },
      {
        sessionId: 'ses_2',
        idempotencyKey: 'l',
        bytes: Buffer.from(spaced),
        events: [{ eventType: 'b', payload: Buffer.from('{"c": 1.0}') }],
      },
    ]);
  });

  test('takes as many as it is told', () => {
    expect(scan(bulk(BATCH, BATCH, BATCH))).toHaveLength(3);
    expect(() => scan(bulk(BATCH, BATCH, BATCH, BATCH))).toThrow('/appends must be a list of 1 to 3 appends.');
    expect(() => scan(bulk(Array(500_000).fill('1').join()))).toThrow('/appends must be a list of 1 to 3 appends.');
  });

  test('keeps nothing of the bulk before', () => {
    const full = `{${KEYS},"body":{"events":[${Array(50).fill('{"eventType":"old","payload":{"old":1}}')}]}}`;
    expect(scan(bulk(full, full, full))).toHaveLength(3);
    expect(scan(bulk(BATCH)).map(({ events }) => events.map(({ eventType }) => eventType))).toEqual([['a']]);
    expect(() => scan('{}')).toThrow('/appends is missing');
    expect(() => scan(bulk('{}'))).toThrow('/appends/0/sessionId is missing');
    expect(() => scan(bulk(`{${KEYS},"body":{}}`))).toThrow('/appends/0/body/events is missing');
    expect(() => scan(bulk(`{${KEYS},"body":{"events":[{}]}}`))).toThrow(
      '/appends/0/body/events/0/eventType is missing',
    );
  });

  test.each([
    ['no object', '[]', '/ must be an object.'],
    ['a single append', '{"appends":{}}', '/appends must be a list of 1 to 3 appends.'],
    ['no append', bulk(), '/appends must be a list of 1 to 3 appends.'],
    ['an append of null', bulk(BATCH, 'null'), '/appends/1 must be an object.'],
    ['no session', bulk(`{"idempotencyKey":"k","body":${BODY}}`), '/appends/0/sessionId is missing.'],
    [
      'a session of 1',
      bulk(`{"sessionId":1,"idempotencyKey":"k","body":${BODY}}`),
      '/appends/0/sessionId must be a string.',
    ],
    ['an empty session', bulk(`{"sessionId":"","idempotencyKey":"k","body":${BODY}}`), '/appends/0/sessionId must not'],
    [
      'a session with NUL',
      bulk(`{"sessionId":"a\\u0000","idempotencyKey":"k","body":${BODY}}`),
      '/appends/0/sessionId must',
    ],
    [
      'a session of 256',
      bulk(`{"sessionId":"${'s'.repeat(256)}","idempotencyKey":"k"}`),
      '/appends/0/sessionId must not',
    ],
    ['no key', bulk(`{"sessionId":"s","body":${BODY}}`), '/appends/0/idempotencyKey is missing.'],
    [
      'a key with a space',
      bulk(`{"sessionId":"s","idempotencyKey":"a b","body":${BODY}}`),
      '/appends/0/idempotencyKey must',
    ],
    ...['-1', '1.5', '"1"', 'null', '[1]', '9007199254740993', `1${'0'.repeat(500)}`].map((number) => [
      `an expectation of ${number.slice(0, 20)}`,
      bulk(`{${KEYS},"expectedEvents":${number},"body":${BODY}}`),
      '/appends/0/expectedEvents must be a whole number of events.',
    ]),
    ['no body', bulk(BATCH, `{${KEYS}}`), '/appends/1/body is missing.'],
    ['a body of text', bulk(`{${KEYS},"body":"{}"}`), '/appends/0/body must be an object.'],
    [
      'no events',
      bulk(BATCH, BATCH, `{${KEYS},"body":{"events":[]}}`),
      '/appends/2/body/events must be a list of 1 to 50',
    ],
    [
      'a payload of a list',
      bulk(`{${KEYS},"body":{"events":[{"eventType":"a"},{"eventType":"a","payload":[]}]}}`),
      '/appends/0/body/events/1/payload must be an object.',
    ],
    [
      'a payload that is too large',
      bulk(BATCH, `{${KEYS},"body":{"events":[{"eventType":"a","payload":{"a":"${'x'.repeat(262_144)}"}}]}}`),
      '/appends/1/body/events/0/payload has 262152 bytes, and 262144 is the most.',
    ],
  ])('refuses %s, and says where', (_, text, says) => {
    expect(() => scan(text)).toThrow(says);
  });

  test('reads how many events are expected, of each append for itself', () => {
    const batches = scan(bulk(`{${KEYS},"expectedEvents":12,"body":${BODY}}`, BATCH));
    expect(batches.map(({ expectedEvents }) => expectedEvents)).toEqual([12, undefined]);
  });

  test('of a name that is there twice the last counts', () => {
    const twice = `{"sessionId":1,"body":{"events":[${Array(9).fill('{}')}]},"idempotencyKey":[],"\\u0062ody":${BODY},${KEYS}}`;
    expect(scan(`{"appends":[${Array(9).fill(BATCH)}],"appends":[${twice}]}`)).toEqual(scan(bulk(BATCH)));
    expect(() => scan(bulk(`{${KEYS},"body":${BODY},"body":null}`))).toThrow('/appends/0/body must be an object.');
  });
});
