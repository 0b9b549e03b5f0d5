import { randomBytes } from 'node:crypto';
import { constants as zlib, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_APPEND_BYTES } from '../../contract/event.ts';
import { runs, seeded } from '../../contract/test/runs.ts';
import { isOneFrame } from '../../contract/zstd-frame.ts';
import { scanAppend } from '../ingest/scan/append.ts';
import { decodeFrame, encodeFrame } from '../log/frame.ts';
import { jsonSpace, jsonText, objectText } from './json-text.ts';

const SENT = 2;

const newEvent = fc
  .tuple(fc.constantFrom('notice', 'tool.result', 'ä\u2028'), fc.option(objectText), fc.option(jsonText), jsonSpace)
  .map(([eventType, payload, unknown, space]) => {
    const members = [`"eventType":${JSON.stringify(eventType)}`];
    if (unknown !== null) members.push(`"unknown"${space}:${unknown}`);
    // The last of a repeated key counts.
    if (payload !== null) members.push(`"payload":{"first":1}`, `"payload"${space}:${space}${payload}`);
    return { eventType, payload: payload ?? '{}', text: `{${members.join(`,${space}`)}}` };
  });

const bodies = fc
  .tuple(fc.array(newEvent, { minLength: 1, maxLength: 49 }), jsonSpace, fc.nat(40_000))
  .map(([events, space, filler]) => {
    const long = { eventType: 'notice', payload: `{"text":"${'again '.repeat(filler / 6)}"}` };
    const all = [...events, { ...long, text: `{"eventType":"notice","payload":${long.payload}}` }];
    return { events: all, text: `${space}{"events":${space}[${all.map(({ text }) => text).join(`${space},`)}]}` };
  });

/** Stores a body as the route does, and reads it back. */
function keep(text: string, eventTypes: readonly string[], zstd = zstdCompressSync(text)) {
  const plain = zstdDecompressSync(zstd);
  const payloads = scanAppend(plain).events.map(({ payload }) => payload);
  const events = eventTypes.map((eventType, index) => ({ eventType, payload: payloads[index] as Buffer }));
  const frame = encodeFrame(events, { zstd, plain });
  const back = decodeFrame(frame).map(({ eventType, payload }) => ({ eventType, payload: `${payload}` }));
  return { frame, back };
}

describe('a body that is stored as it was sent', () => {
  test(`returns each payload byte for byte ${seeded}`, () => {
    let asSent = 0;
    const property = fc.property(bodies, ({ events, text }) => {
      const types = events.map(({ eventType }) => eventType);
      const { frame, back } = keep(text, types);
      if (frame.codec === SENT) asSent++;
      expect(back).toEqual(events.map(({ eventType, payload }) => ({ eventType, payload })));
    });
    fc.assert(property, runs(300));
    expect(asSent).toBeGreaterThan(30);
  });

  const payload = `{"text":"${'again '.repeat(2_000)}"}`;
  const event = `{"eventType":"notice","payload":${payload}}`;
  const text = `{"events":[${event}]}`;
  const noise = randomBytes(9_000).toString('base64');

  test.each([
    ['nothing but its events', true, text],
    ['an unknown field of a twentieth', true, `{"x":"${'a'.repeat(600)}","events":[${event}]}`],
    ['an unknown field of a fifth', false, `{"x":"${'a'.repeat(3_000)}","events":[${event}]}`],
    ['its events twice', false, `{"events":[${event}],"events":[${event}]}`],
    [
      'a payload that its sender could not compress',
      false,
      `{"events":[{"eventType":"notice","payload":{"noise":"${noise}"}}]}`,
    ],
  ])('with %s is stored as sent: %s', (_, isKept, sent) => {
    const { frame, back } = keep(sent, ['notice']);
    expect(frame.codec === SENT).toBe(isKept);
    expect(back[0]?.payload).toBe(JSON.stringify(JSON.parse(sent).events[0].payload));
  });

  const skippable = Buffer.concat([Buffer.from('502a4d1804000000', 'hex'), Buffer.from('skip')]);
  test.each([
    ['another frame', zstdCompressSync(' ')],
    ['a skippable frame', skippable],
    ['bytes that are no frame', Buffer.from('no frame')],
    ['a truncated frame', zstdCompressSync(' ').subarray(0, 6)],
  ])('is compressed again if %s follows its frame', (_, behind) => {
    // The exact size at which a decoder's output chunk is full when the first frame ends.
    for (const size of [16 * 1024, 64 * 1024, 128 * 1024, 30_000]) {
      const exact = text.replace('again', `again${'.'.repeat(size - text.length)}`);
      expect(exact.length).toBe(size);
      const zstd = Buffer.concat([zstdCompressSync(exact), behind]);
      const plain = Buffer.from(exact);
      const events = [
        { eventType: 'notice', payload: scanAppend(plain).events.map(({ payload }) => payload)[0] as Buffer },
      ];
      const frame = encodeFrame(events, { zstd, plain });
      expect(frame.codec).not.toBe(SENT);
      expect(`${decodeFrame(frame)[0]?.payload}`).toBe(`${events[0]?.payload}`);
    }
  });

  test('is compressed again if a payload is stored elsewhere in memory', () => {
    const memory = Buffer.alloc(2 * text.length + 100);
    memory.write(text, 100);
    memory.write(payload, 100 + text.length);
    const plain = memory.subarray(100, 100 + text.length);
    const elsewhere = memory.subarray(100 + text.length, 100 + text.length + payload.length);
    const frame = encodeFrame([{ eventType: 'notice', payload: elsewhere }], { zstd: zstdCompressSync(plain), plain });
    expect(frame.codec).not.toBe(SENT);
    expect(`${decodeFrame(frame)[0]?.payload}`).toBe(payload);
  });
});

describe('a damaged frame', () => {
  const bomb = zstdCompressSync(Buffer.alloc(MAX_APPEND_BYTES + 1, ' '));
  const because = (message: string) =>
    expect.objectContaining({ cause: expect.objectContaining({ message: expect.stringContaining(message) }) });
  const refused = { cause: expect.objectContaining({ code: 'ERR_BUFFER_TOO_LARGE' }) };

  test('that would decode to more than the limit of an append is refused', () => {
    const sent = Buffer.concat([Buffer.from('[["notice",0,1]]\n'), bomb]);
    expect(() => decodeFrame({ codec: SENT, body: sent })).toThrow(expect.objectContaining(refused));
    expect(() => decodeFrame({ codec: 1, body: bomb })).toThrow(expect.objectContaining(refused));
  });

  test('with another length than declared is refused, and no part of a payload is served', () => {
    const sent = Buffer.concat([Buffer.from('[["notice",0,3]]\n'), zstdCompressSync('{}')]);
    expect(() => decodeFrame({ codec: SENT, body: sent })).toThrow(because('reach beyond'));
    for (const length of [1, 3]) {
      const plain = Buffer.from(`[["notice",${length}]]\n{}`);
      expect(() => decodeFrame({ codec: 0, body: plain })).toThrow(because('longer or shorter'));
    }
  });
});

describe('one zstd frame', () => {
  test(`is recognized with any content and any settings ${seeded}`, () => {
    const property = fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(300_000),
      fc.boolean(),
      (start, zeros, sum) => {
        const content = Buffer.concat([start, Buffer.alloc(zeros)]);
        const frame = zstdCompressSync(content, {
          params: { [zlib.ZSTD_c_checksumFlag]: sum ? 1 : 0 },
          ...(sum ? {} : { pledgedSrcSize: content.length }),
        });
        expect(isOneFrame(frame)).toBe(true);
        expect(isOneFrame(Buffer.concat([frame, Buffer.from([0])]))).toBe(false);
        for (const end of [0, 3, 4, frame.length - 1]) expect(isOneFrame(frame.subarray(0, end))).toBe(false);
      },
    );
    fc.assert(property, runs(200));
  });
});
