import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../contract/test/runs.ts';
import { isPart, joinParts, splitPayload } from './parts.ts';

const source = { agent: 'codex', session: 's', file: 'f.jsonl', position: 0 };
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('a payload in parts', () => {
  test('fits, joins to the same value, and never separates a surrogate pair', () => {
    const text = fc.string({ unit: 'binary', maxLength: 3000 });
    fc.assert(
      fc.property(fc.record({ text, more: fc.jsonValue() }), fc.integer({ min: 200, max: 2000 }), (payload, room) => {
        const parts = splitPayload(source, JSON.stringify(payload), room);
        expect(Math.max(...parts.map(bytesOf))).toBeLessThanOrEqual(room);
        expect(joinParts(parts)).toEqual(JSON.parse(JSON.stringify(payload)));
        expect(parts.every(isPart)).toBe(true);
        for (const { json } of parts) expect(json.isWellFormed()).toBe(true);
      }),
      runs(50),
    );
  });

  test('fills each part but the last almost completely', () => {
    const parts = splitPayload(source, JSON.stringify({ text: 'x"\\\u0001é😀'.repeat(5000) }), 4096);
    for (const part of parts.slice(0, -1)) expect(bytesOf(part)).toBeGreaterThan(4096 - 32);
  });

  test('is refused if a part has no room for its source', () => {
    expect(() => splitPayload(source, '{}', 50)).toThrow(RangeError);
  });
});
