import { randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs, seeded } from '../../contract/test/runs.ts';
import { contentSizeOf } from '../../contract/zstd-frame.ts';
import { pack } from '../log/codec.ts';
import { decodeFrame, encodeFrame } from '../log/frame.ts';
import { objectText } from './json-text.ts';

const event = fc.record({
  eventType: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  payload: fc.oneof(
    objectText,
    objectText.map((text) => `{"a":"${'x'.repeat(3_000)}","b":${text}}`),
  ),
});

describe('a stored frame', () => {
  test(`returns its input byte for byte ${seeded}`, () => {
    const property = fc.property(fc.array(event, { minLength: 1, maxLength: 50 }), (events) => {
      const framed = events.map(({ eventType, payload }) => ({ eventType, payload: Buffer.from(payload) }));
      const back = decodeFrame(pack(encodeFrame(framed)));
      expect(back.map(({ eventType, payload }) => ({ eventType, payload: Buffer.from(payload).toString() }))).toEqual(
        events,
      );
    });
    fc.assert(property, runs(100));
  });

  test('of a large repetitive batch is smaller than the batch', () => {
    const payload = Buffer.from(JSON.stringify({ text: 'again and again '.repeat(500) }));
    const { body } = pack(encodeFrame([{ eventType: 'notice', payload }]));
    expect(body.byteLength).toBeLessThan(payload.byteLength / 10);
  });

  test('of a later version is refused instead of misread', () => {
    expect(() => decodeFrame({ codec: 99, body: Buffer.from('x') })).toThrow('codec 99');
  });
});

test.each([20, 255, 256, 300, 65_791, 65_792, 1_000_000])('a zstd frame declares its size of %i bytes', (size) => {
  expect(contentSizeOf(zstdCompressSync(randomBytes(size)))).toBe(size);
  expect(contentSizeOf(randomBytes(20).fill(0, 0, 1))).toBeUndefined();
});
