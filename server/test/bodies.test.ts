import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProblemCode } from '../../contract/problem.ts';
import { MAX_BODY_BYTES } from '../http/body.ts';
import { ENGINES } from './engines.ts';
import { RIGHT, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

const NAMED = '{"name":"Named"}';
const gzip = { 'content-encoding': 'gzip' };
const zstd = { 'content-encoding': 'zstd' };
const filled = (bytes: number) => `{"name":"x","filler":"${'f'.repeat(bytes - 24)}"}`;
/** Each piece in a frame of its own. */
const inFrames = (...pieces: string[]) => Buffer.concat(pieces.map((piece) => zstdCompressSync(piece)));
/** As a stream writes it, which does not know how much there will be. */
const unsized = (text: string) => zstdCompressSync(text, { params: { [constants.ZSTD_c_contentSizeFlag]: 0 } });
/** Its frame header says another size. */
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
  ['zstd in several frames', inFrames('{"na', 'me":', '', '"Named"}'), zstd],
  ['an encoding in capitals', gzipSync(NAMED), { 'content-encoding': 'GZIP' }],
  ['the encoding identity', NAMED, { 'content-encoding': 'identity' }],
  ['as plain text', NAMED, { 'content-type': 'text/plain' }],
  ['as a form', NAMED, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['as JSON of another alphabet', NAMED, { 'content-type': 'application/json; charset=latin1' }],
  ['as bytes', NAMED, { 'content-type': 'application/octet-stream' }],
  ['unknown fields', '{"name":"x","__proto__":{"name":"y"},"constructor":1,"nested":{"a":[1e400]}}'],
  ['a field twice, the last counts', '{"name":7,"name":"x"}'],
  ['at the limit', filled(MAX_BODY_BYTES)],
  ['at the limit when decoded', gzipSync(filled(MAX_BODY_BYTES)), gzip],
];

const REFUSED: [name: string, code: ProblemCode, body: string | Buffer, headers?: Record<string, string>][] = [
  ['empty', 'malformed_json', ''],
  ['blank', 'malformed_json', ' \n'],
  ['half of it', 'malformed_json', '{"name":"x"'],
  ['with a comma too much', 'malformed_json', '{"name":"x",}'],
  ['two of them', 'malformed_json', '{}{}'],
  ['a byte order mark before it', 'malformed_json', `\ufeff${NAMED}`],
  ['no UTF-8', 'malformed_json', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  [
    'a surrogate as bytes',
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
  ['only what a prototype would give', 'validation_failed', '{"__proto__":{"name":"x"}}'],
  ['one byte beyond the limit', 'validation_failed', filled(MAX_BODY_BYTES + 1)],
  ['one byte beyond the limit when decoded', 'validation_failed', gzipSync(filled(MAX_BODY_BYTES + 1)), gzip],
  ['a gzip bomb', 'validation_failed', gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20)), gzip],
  ['a zstd bomb', 'validation_failed', zstdCompressSync(Buffer.alloc(64 * 1024 * 1024, 0x20)), zstd],
  ['no gzip', 'validation_failed', NAMED, gzip],
  ['no zstd', 'validation_failed', NAMED, zstd],
  ['gzip cut short', 'validation_failed', gzipSync(NAMED).subarray(0, -5), gzip],
  ['zstd cut short', 'validation_failed', zstdCompressSync(NAMED).subarray(0, -5), zstd],
  ['zstd frames that say two things', 'malformed_json', inFrames(NAMED, NAMED), zstd],
  ['a zstd frame cut short', 'validation_failed', inFrames(NAMED, ' ').subarray(0, -5), zstd],
  ['something behind zstd frames', 'validation_failed', Buffer.concat([inFrames(NAMED, ' '), Buffer.from('x')]), zstd],
  [
    'zstd frames of which one hides its size',
    'validation_failed',
    Buffer.concat([inFrames(NAMED), unsized(' ')]),
    zstd,
  ],
  [
    'a zstd frame that makes more than it says',
    'validation_failed',
    Buffer.concat([inFrames(' '), saying(inFrames(NAMED), 9)]),
    zstd,
  ],
  [
    'a zstd frame that makes less than it says',
    'validation_failed',
    Buffer.concat([inFrames(' '), saying(inFrames(NAMED), 99)]),
    zstd,
  ],
  ['zstd frames beyond the limit together', 'validation_failed', inFrames(NAMED, ' '.repeat(MAX_BODY_BYTES - 1)), zstd],
  ['too many zstd frames', 'validation_failed', inFrames(NAMED, ...Array.from({ length: 1000 }, () => '')), zstd],
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

  test.each(TAKEN)('%s is taken', async (_, body, headers) => {
    const reply = await rename(body, headers);
    expect(reply.status, reply.text).toBe(200);
  });

  test.each(REFUSED)('%s is refused as %s', async (_, code, body, headers) => {
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
      member: world.ours.member,
      admin: world.ours.admin,
      public: '',
    }[auth];
    const ask = RIGHT[route](world);
    expectProblem(await request(world.service, route, { ...ask, body: '{' }, as), 400, 'malformed_json');
    expectProblem(await request(world.service, route, { ...ask, body: '[]' }, as), 400, 'validation_failed');
    expectProblem(await request(world.service, route, { ...ask, body: 'null' }, as), 400, 'validation_failed');
  });

  test('an append takes a body beyond the other limit, and refuses one beyond its own', async () => {
    const append = (body: Buffer, headers = {}) =>
      request(world.service, 'appendEvents', { ...RIGHT.appendEvents(world), body, headers }, world.ours.live);
    const padded = (bytes: number) => Buffer.from(`{"events":[{"eventType":"x"}]}`.padEnd(bytes, ' '));
    expect((await append(padded(5_000_000))).status).toBe(200);
    expectProblem(await append(padded(14_000_000)), 400, 'validation_failed');
    expectProblem(await append(gzipSync(padded(14_000_000)), gzip), 400, 'validation_failed');
    expectProblem(await append(zstdCompressSync(padded(14_000_000)), zstd), 400, 'validation_failed');
  });

  test('what was refused changed nothing', async () => {
    const { body } = await world.service.call('GET', '/v1/organizations/me', { as: world.ours.owner });
    expect(['Named', 'x']).toContain(body.name);
    expect(({} as { name?: string }).name).toBeUndefined();
  });
});
