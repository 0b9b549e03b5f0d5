import type { Source } from './vocabulary.ts';

/**
 * A payload that is too large for one event is sent as several events of the same `eventType`. Each contains a slice of the
 * payload's JSON text. The slices joined in order are the whole text. Nothing is cut away.
 */
export type Part = {
  source: Source;
  /** Starts at 1. */
  part: number;
  /** At least 2. */
  of: number;
  json: string;
};

export const isPart = (payload: unknown): payload is Part =>
  typeof payload === 'object' && payload !== null && 'part' in payload && 'of' in payload && 'json' in payload;

/** The payload of a complete run of parts, in order. */
export const joinParts = (parts: readonly Part[]): unknown => JSON.parse(parts.map((part) => part.json).join(''));

/**
 * Slices JSON text so that each part, written as JSON, stays below `maxBytes` of UTF-8. A slice never separates a surrogate
 * pair.
 */
export function splitPayload(source: Source, json: string, maxBytes: number): Part[] {
  const room = maxBytes - Buffer.byteLength(JSON.stringify({ source, part: 99999, of: 99999, json: '' }));
  if (room < 16) throw new RangeError(`a part of ${maxBytes} bytes has no room for its own source`);
  const slices: string[] = [];
  for (let start = 0; start < json.length; ) {
    const end = sliceEnd(json, start, room);
    slices.push(json.slice(start, end));
    start = end;
  }
  return slices.map((slice, index) => ({ source, part: index + 1, of: slices.length, json: slice }));
}

/** The furthest end of a slice that fits `room` bytes of UTF-8 when it is written as a JSON string again. */
function sliceEnd(json: string, start: number, room: number): number {
  let bytes = 0;
  for (let end = start; end < json.length; ) {
    const width = isPair(json, end) ? 2 : 1;
    bytes += width === 2 ? 4 : escapedBytes(json.charCodeAt(end));
    if (bytes > room) return end;
    end += width;
  }
  return json.length;
}

const isPair = (text: string, at: number) => (text.codePointAt(at) ?? 0) > 0xffff;

/** The most bytes that `JSON.stringify` writes for a code unit outside of pairs. */
function escapedBytes(unit: number): number {
  if (unit === 0x22 || unit === 0x5c) return 2;
  if (unit < 0x20 || (unit >= 0xd800 && unit <= 0xdfff)) return 6;
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}
