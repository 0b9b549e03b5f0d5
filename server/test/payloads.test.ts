import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runs, seeded } from '../../contract/test/runs.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { objectText } from './json-text.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

/** Payloads that JSON.parse and JSON.stringify, or a database's JSON type, would change. */
const TELLING: Record<string, string> = {
  'a NUL': '{"a":"x\\u0000y","\\u0000":1}',
  'lone surrogates': '{"a":"\\ud800","b":"\\udc00\\ud800","\\udfff":0}',
  'a repeated key': '{"a":1,"a":2,"b":{"c":1,"c":{}}}',
  'numbers beyond a double': '{"a":1e400,"b":-1e-400,"c":12345678901234567890,"d":0.1234567890123456789}',
  'the notation of a number': '{"a":-0,"b":1.0,"c":1E+2,"d":0.10}',
  'the escapes of a text': '{"a":"\\u0041\\/\\u00e9","b":"\\u2028\u2028","c":"\\uD83D\\uDE00😀"}',
  'white space': '{ \t\r\n "a" :\n[ 1 ,\t2 ] }',
  'the order of keys': '{"b":1,"10":2,"a":3,"2":4}',
  'names with a meaning in JavaScript': '{"__proto__":{"x":1},"constructor":{"prototype":{}},"toString":1}',
  'the empty key': '{"":{"":""}}',
  nothing: '{}',
};

describe.each(ENGINES)('payloads on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const append = (sessionId: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    world.service.call('POST', `/v1/sessions/${sessionId}/events`, { as: world.ours.live, body, headers });
  const read = (sessionId: string) =>
    world.service.call('GET', `/v1/organizations/me/sessions/${sessionId}/events`, { as: world.ours.member });
  const bodyOf = (payloads: readonly string[]) =>
    `{"events":[${payloads.map((payload) => `{"eventType":"notice","payload":${payload}}`).join(',')}]}`;

  /** Expects the page to have each payload's exact text, in order. */
  async function expectTexts(sessionId: string, payloads: readonly string[]) {
    const { text, body } = await read(sessionId);
    expect(body.events).toHaveLength(payloads.length);
    let at = 0;
    for (const payload of payloads) {
      const start = text.indexOf('"payload":', at) + '"payload":'.length;
      expect(text.slice(start, start + payload.length)).toBe(payload);
      expect(text.slice(start + payload.length)).toMatch(/^,"createdAt":"|^\}/);
      at = start + payload.length;
    }
  }

  test.each(Object.entries(TELLING))('%s comes back as it was sent', async (_, payload) => {
    const sessionId = await openSession(world.service, world.ours.live);
    expect((await append(sessionId, bodyOf([payload]))).status).toBe(200);
    await expectTexts(sessionId, [payload]);
  });

  test(`any JSON text comes back as it was sent, plain or encoded ${seeded}`, async () => {
    const encoded = fc.constantFrom(
      { encode: (text: string): string | Buffer => text, headers: {} },
      { encode: gzipSync, headers: { 'content-encoding': 'gzip' } },
      { encode: zstdCompressSync, headers: { 'content-encoding': 'zstd' } },
    );
    const payloads = fc.array(objectText, { minLength: 1, maxLength: 50 });
    const property = fc.asyncProperty(payloads, encoded, async (texts, { encode, headers }) => {
      const sessionId = await openSession(world.service, world.ours.live);
      const reply = await append(sessionId, encode(bodyOf(texts)), headers as Record<string, string>);
      expect(reply, reply.text).toMatchObject({ status: 200, body: { accepted: texts.length } });
      await expectTexts(sessionId, texts);
    });
    await fc.assert(property, runs(15));
  });

  test('an absent payload is an empty object', async () => {
    const sessionId = await openSession(world.service, world.ours.live);
    await append(sessionId, '{"events":[{"eventType":"notice"}]}');
    await expectTexts(sessionId, ['{}']);
  });

  test('of a repeated key of the event or the body, the last counts', async () => {
    const sessionId = await openSession(world.service, world.ours.live);
    const event = '{"eventType":"lost","payload":{"a":1},"eventType":"kept","pay\\u006coad":{"a":2}}';
    await append(sessionId, `{"events":[{"eventType":"none"}],"events":[${event}]}`);
    const { body } = await read(sessionId);
    expect(body.events).toMatchObject([{ eventType: 'kept', payload: { a: 2 } }]);
  });

  test.each(['x', '€', '😀'])(
    '262144 bytes of %s are accepted, and one more byte refuses the batch',
    async (filler) => {
      const sized = (bytes: number) => {
        const room = bytes - '{"a":""}'.length;
        const size = Buffer.byteLength(filler);
        return `{"a":"${filler.repeat(Math.floor(room / size))}${'x'.repeat(room % size)}"}`;
      };
      const sessionId = await openSession(world.service, world.ours.live);
      const tooLarge = await append(sessionId, bodyOf(['{}', sized(262_145)]));
      expectProblem(tooLarge, 400, 'validation_failed');
      expect(tooLarge.body.error).toContain('/events/1/payload');
      expect((await append(sessionId, bodyOf([sized(262_144)]))).body.firstSequence).toBe(1);
      await expectTexts(sessionId, [sized(262_144)]);
    },
  );

  test('128 levels are accepted, and one more refuses the batch', async () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
    const sessionId = await openSession(world.service, world.ours.live);
    expectProblem(await append(sessionId, bodyOf([nested(129)])), 400, 'validation_failed');
    expectProblem(await append(sessionId, bodyOf([nested(40_000)])), 400, 'validation_failed');
    expect((await append(sessionId, bodyOf([nested(128)]))).status).toBe(200);
    await expectTexts(sessionId, [nested(128)]);
  });

  test('a batch of 50 of the largest payloads fits into one append', async () => {
    const sessionId = await openSession(world.service, world.ours.live);
    const largest = `{"a":"${'x'.repeat(262_144 - 8)}"}`;
    const reply = await append(sessionId, bodyOf(Array.from({ length: 50 }, () => largest)));
    expect(reply.body).toMatchObject({ accepted: 50 });
  });
});
