import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_BULK_BYTES } from '../../contract/capture.ts';
import { REQUEST_TIMEOUT_MS } from '../../contract/client.ts';
import { MAX_APPEND_BYTES, MAX_BATCH_EVENTS, MAX_PAYLOAD_BYTES } from '../../contract/event.ts';
import type { ProblemCode } from '../../contract/problem.ts';
import { MAX_BODY_BYTES } from '../http/body.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { RIGHT, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

const NAMED = '{"name":"Named"}';
const gzip = { 'content-encoding': 'gzip' };
const zstd = { 'content-encoding': 'zstd' };
const filled = (bytes: number) => `{"name":"x","filler":"${'f'.repeat(bytes - 24)}"}`;
/** Compresses each piece into a frame of its own. */
const inFrames = (...pieces: string[]) => Buffer.concat(pieces.map((piece) => zstdCompressSync(piece)));
/** Compresses like a stream that does not know the total size. */
const unsized = (text: string) => zstdCompressSync(text, { params: { [constants.ZSTD_c_contentSizeFlag]: 0 } });
/** Changes the size in the frame header. */
const saying = (frame: Buffer, bytes: number) => {
  const copy = Buffer.from(frame);
  copy[5] = bytes;
  return copy;
};
const flip = (bytes: Buffer, at: number) => {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
};

const TAKEN: [name: string, body: string | Buffer, headers?: Record<string, string>][] = [
  ['plain', NAMED],
  ['white space around it', ` \r\n\t${NAMED} \n`],
  ['gzip', gzipSync(NAMED), gzip],
  ['zstd', zstdCompressSync(NAMED), zstd],
  ['an encoding in capitals', gzipSync(NAMED), { 'content-encoding': 'GZIP' }],
  ['the encoding identity', NAMED, { 'content-encoding': 'identity' }],
  ['as plain text', NAMED, { 'content-type': 'text/plain' }],
  ['as a form', NAMED, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['as JSON in another charset', NAMED, { 'content-type': 'application/json; charset=latin1' }],
  ['as bytes', NAMED, { 'content-type': 'application/octet-stream' }],
  ['unknown fields', '{"name":"x","__proto__":{"name":"y"},"constructor":1,"nested":{"a":[1e400]}}'],
  ['a repeated field (the last counts)', '{"name":7,"name":"x"}'],
  ['at the limit', filled(MAX_BODY_BYTES)],
  ['at the limit when decoded', gzipSync(filled(MAX_BODY_BYTES)), gzip],
];

const REFUSED: [name: string, code: ProblemCode, body: string | Buffer, headers?: Record<string, string>][] = [
  ['empty', 'malformed_json', ''],
  ['blank', 'malformed_json', ' \n'],
  ['half of the body', 'malformed_json', '{"name":"x"'],
  ['with one comma too many', 'malformed_json', '{"name":"x",}'],
  ['two bodies', 'malformed_json', '{}{}'],
  ['a byte order mark in front', 'malformed_json', `\ufeff${NAMED}`],
  ['no UTF-8', 'malformed_json', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  [
    'an encoded surrogate',
    'malformed_json',
    Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
  ],
  [
    'an overlong encoding',
    'malformed_json',
    Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
  ],
  ['UTF-16', 'malformed_json', Buffer.from(NAMED, 'utf16le')],
  ['a NUL byte in it', 'malformed_json', '{"name":"a\0b"}'],
  ['a list', 'validation_failed', '[]'],
  ['null', 'validation_failed', 'null'],
  ['a text', 'validation_failed', '"name"'],
  ['a field that only a prototype would give', 'validation_failed', '{"__proto__":{"name":"x"}}'],
  ['one byte beyond the limit', 'validation_failed', filled(MAX_BODY_BYTES + 1)],
  ['one byte beyond the limit when decoded', 'validation_failed', gzipSync(filled(MAX_BODY_BYTES + 1)), gzip],
  ['a gzip bomb', 'validation_failed', gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20)), gzip],
  ['a zstd bomb', 'validation_failed', zstdCompressSync(Buffer.alloc(64 * 1024 * 1024, 0x20)), zstd],
  ['no gzip', 'validation_failed', NAMED, gzip],
  ['no zstd', 'validation_failed', NAMED, zstd],
  ['gzip cut short', 'validation_failed', gzipSync(NAMED).subarray(0, -5), gzip],
  ['zstd cut short', 'validation_failed', zstdCompressSync(NAMED).subarray(0, -5), zstd],
  ['two zstd frames', 'validation_failed', inFrames('{"na', 'me":"Named"}'), zstd],
  ['bytes behind a zstd frame', 'validation_failed', Buffer.concat([inFrames(NAMED), Buffer.from('x')]), zstd],
  ['gzip with a flipped checksum', 'validation_failed', flip(gzipSync(NAMED), -1 + gzipSync(NAMED).length - 4), gzip],
  ['empty gzip', 'validation_failed', '', gzip],
  ['gzip within gzip', 'malformed_json', gzipSync(gzipSync(NAMED)), gzip],
  ['two encodings', 'validation_failed', gzipSync(NAMED), { 'content-encoding': 'gzip, gzip' }],
  ['brotli', 'validation_failed', brotliCompressSync(NAMED), { 'content-encoding': 'br' }],
  ['deflate', 'validation_failed', deflateSync(NAMED), { 'content-encoding': 'deflate' }],
];

describe.each(ENGINES)('bodies on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const rename = (body: string | Buffer, headers: Record<string, string> = {}) =>
    world.service.call('PATCH', '/v1/organizations/me', { as: world.ours.owner, body, headers });

  test('a body on a slow line may take as long as the command line waits for its answer', () => {
    expect(world.service.app.server.requestTimeout).toBeGreaterThanOrEqual(REQUEST_TIMEOUT_MS);
  });

  test.each(TAKEN)('accepts a body: %s', async (_, body, headers) => {
    const reply = await rename(body, headers);
    expect(reply.status, reply.text).toBe(200);
  });

  test.each(REFUSED)('refuses a body: %s is %s', async (_, code, body, headers) => {
    expectProblem(await rename(body, headers), 400, code);
  });

  test('a body without a content type is read', async () => {
    const reply = await world.service.app.inject({
      method: 'PATCH',
      url: '/v1/organizations/me',
      headers: { authorization: `Bearer ${world.ours.owner}` },
      payload: Buffer.from(NAMED),
    });
    expect(reply.statusCode).toBe(200);
  });

  const withBody = ROUTE_NAMES.filter((name) => TABLE[name].body);

  test.each(withBody)('%s refuses malformed JSON, a list and null', async (route) => {
    const { auth } = TABLE[route];
    const as = {
      secret: world.ours.live,
      user: world.stranger,
      visitor: world.ours.member,
      member: world.ours.member,
      admin: world.ours.admin,
      directory: world.ours.directoryToken,
      public: '',
    }[auth];
    const ask = RIGHT[route](world);
    const write = (text: string) => (TABLE[route].frames ? inFrames(text) : text);
    expectProblem(await request(world.service, route, { ...ask, body: write('{') }, as), 400, 'malformed_json');
    expectProblem(await request(world.service, route, { ...ask, body: write('[]') }, as), 400, 'validation_failed');
    expectProblem(await request(world.service, route, { ...ask, body: write('null') }, as), 400, 'validation_failed');
  });

  test('an append accepts a body beyond the general limit, and refuses one beyond its own limit', async () => {
    const append = (body: Buffer, headers = {}) =>
      request(world.service, 'appendEvents', { ...RIGHT.appendEvents(world), body, headers }, world.ours.live);
    const padded = (bytes: number) => Buffer.from(`{"events":[{"eventType":"x"}]}`.padEnd(bytes, ' '));
    expect((await append(padded(5_000_000))).status).toBe(200);
    expectProblem(await append(padded(14_000_000)), 400, 'validation_failed');
    expectProblem(await append(gzipSync(padded(14_000_000)), gzip), 400, 'validation_failed');
    expectProblem(await append(zstdCompressSync(padded(14_000_000)), zstd), 400, 'validation_failed');
  });

  test('refused bodies change nothing', async () => {
    const { body } = await world.service.call('GET', '/v1/organizations/me', { as: world.ours.owner });
    expect(['Named', 'x']).toContain(body.name);
    expect(({} as { name?: string }).name).toBeUndefined();
  });
});

const EVENTS = '{"events":[{"eventType":"notice"}]}';
const BLANK = (bytes: number) => ' '.repeat(bytes);

describe('a body of zstd frames', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld('sqlite');
  });
  afterAll(() => world.service.close());

  /** The index of a body with this many appends, each under a key of its own. */
  const index = (count: number) =>
    JSON.stringify({
      appends: Array.from({ length: count }, (_, at) => ({
        sessionId: world.ours.sessionId,
        idempotencyKey: `${Math.random()}-${at}`,
      })),
    });
  const send = (body: Buffer | string, headers: Record<string, string> = {}) =>
    world.service.call('POST', '/v1/appends', { as: world.ours.live, body, headers });

  test('is an index followed by one frame for each append', async () => {
    const { status, body } = await send(inFrames(index(3), EVENTS, `${EVENTS}${BLANK(2_000_000)}`, EVENTS));
    expect(status, body.error).toBe(200);
    expect(body.results.map(({ accepted }: { accepted: number }) => accepted)).toEqual([1, 1, 1]);
  });

  test('is accepted up to its limits of appends and bytes', async () => {
    const all = await send(inFrames(index(200), ...Array<string>(200).fill(EVENTS)));
    expect(all.body.results).toHaveLength(200);
    const text = index(1);
    const rest = MAX_BULK_BYTES - text.length;
    expect((await send(inFrames(text, EVENTS.padEnd(rest)))).status).toBe(200);
    expectProblem(await send(inFrames(text, EVENTS.padEnd(rest + 1))), 400, 'validation_failed');
  });

  test.each([
    ['nothing', () => Buffer.alloc(0)],
    ['JSON', () => Buffer.from('{"appends":[]}')],
    ['an index alone', () => inFrames(index(1))],
    ['a frame too few', () => inFrames(index(3), EVENTS, EVENTS)],
    ['a frame too many', () => inFrames(index(1), EVENTS, EVENTS)],
    ['more appends than the limit', () => inFrames(index(201), ...Array<string>(201).fill(EVENTS))],
    ['a thousand empty frames', () => inFrames(index(1), EVENTS, ...Array<string>(1_000).fill(''))],
    ['a frame that is cut short', () => inFrames(index(1), EVENTS).subarray(0, -5)],
    ['bytes behind its frames', () => Buffer.concat([inFrames(index(1), EVENTS), Buffer.from('x')])],
    ['a skippable frame', () => Buffer.concat([inFrames(index(1)), SKIPPABLE, inFrames(EVENTS)])],
    ['a frame that hides its size', () => Buffer.concat([inFrames(index(1)), unsized(EVENTS)])],
    [
      'a frame that holds more than it declares',
      () => Buffer.concat([inFrames(index(1)), saying(inFrames(EVENTS), 9)]),
    ],
    [
      'a frame that holds less than it declares',
      () => Buffer.concat([inFrames(index(1)), saying(inFrames(EVENTS), 99)]),
    ],
    ['a bomb', () => inFrames(index(1), EVENTS + BLANK(64 * 1024 * 1024))],
    ['a bomb that declares a small size', () => Buffer.concat([inFrames(index(1)), understated()])],
    ['bombs whose sum is too large', () => inFrames(index(2), EVENTS + BLANK(9_000_000), EVENTS + BLANK(9_000_000))],
  ])('of %s is refused, and none of it is stored', async (_, write) => {
    const { sessionId } = world.ours;
    const count = async () => {
      const { db } = world.service.store;
      return (await db.selectFrom('appends').select('append_id').where('session_id', '=', sessionId).execute()).length;
    };
    const before = await count();
    expectProblem(await send(write()), 400, 'validation_failed');
    expect(await count()).toBe(before);
  });

  test('accepts no content encoding', async () => {
    expectProblem(await send(inFrames(index(1), EVENTS), zstd), 400, 'validation_failed');
    expectProblem(await send(gzipSync(inFrames(index(1), EVENTS)), gzip), 400, 'validation_failed');
  });

  test('answers an invalid frame with the message of a single request', async () => {
    const { status, body } = await send(inFrames(index(1), '{"events":['));
    expect(status).toBe(200);
    expect(body.results).toMatchObject([{ code: 'malformed_json' }]);
    const alone = await request(
      world.service,
      'appendEvents',
      { ...RIGHT.appendEvents(world), body: '{"events":[{}]}' },
      world.ours.live,
    );
    const { body: many } = await send(inFrames(index(1), '{"events":[{}]}'));
    expect(many.results).toMatchObject([alone.body]);
  });

  test('with a full batch and a large unknown field can be read back', async () => {
    const { service, ours } = world;
    const sessionId = await openSession(service, ours.live, ours);
    const payload = `{"text":"${'a'.repeat(MAX_PAYLOAD_BYTES - 11)}"}`;
    const events = Array<string>(MAX_BATCH_EVENTS).fill(`{"eventType":"notice","payload":${payload}}`);
    const text = `{"unknown":"${'b'.repeat(1_000_000)}","events":[${events.join()}]}`;
    expect(text.length).toBeGreaterThan(MAX_APPEND_BYTES);
    const named = JSON.stringify({ appends: [{ sessionId, idempotencyKey: 'large' }] });
    expect((await send(inFrames(named, text))).body.results).toMatchObject([{ accepted: MAX_BATCH_EVENTS }]);
    const path = `/v1/organizations/me/sessions/${sessionId}/events?limit=1`;
    const { body } = await service.call('GET', path, { as: ours.member });
    expect(body.events[0].payload.text).toHaveLength(MAX_PAYLOAD_BYTES - 11);
  });
});

const SKIPPABLE = Buffer.from('502a4d1804000000736b6970', 'hex');

/** A frame of 64 MB of blanks that declares 255 bytes: its one-byte size field, and blocks that repeat a byte. */
function understated(): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0xff]);
  const block = (isLast: boolean) => {
    const sizeTypeLast = (128 * 1024 * 8) | (1 << 1) | (isLast ? 1 : 0);
    return Buffer.from([sizeTypeLast & 0xff, (sizeTypeLast >> 8) & 0xff, sizeTypeLast >> 16, 0x20]);
  };
  return Buffer.concat([header, ...Array.from({ length: 511 }, () => block(false)), block(true)]);
}
