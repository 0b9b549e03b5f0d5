import { randomBytes } from 'node:crypto';
import { createPassages, shorten } from '../text.ts';

/** Bodies of appends that are expensive to parse and cheap to send. */

const MEGABYTES_13 = 13_300_000;
/** The largest accepted payload, without the JSON around the text. */
const PAYLOAD = 256 * 1024 - 64;
const EVENT = '{"eventType":"notice","payload":{}}';

/** Repeats `unit`, separated by commas, up to about `bytes`. */
const repeat = (unit: string, bytes: number) => `${`${unit},`.repeat(Math.floor(bytes / (unit.length + 1)))}${unit}`;
const withUnknown = (value: string) => Buffer.from(`{"x":${value},"events":[${EVENT}]}`);
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const batch = (payloads: readonly string[]) =>
  Buffer.from(`{"events":[${payloads.map((payload) => `{"eventType":"notice","payload":${payload}}`).join(',')}]}`);

export const manyNumbers = () => Buffer.from(`{"events":[${repeat('1', MEGABYTES_13)}]}`);
export const deepUnknown = () => withUnknown(nested(MEGABYTES_13 / 2 - 50));
export const manyObjects = () => withUnknown(`[${repeat('{}', MEGABYTES_13 - 100)}]`);
export const deepPayload = () => batch([`{"a":${nested(PAYLOAD / 2)}}`]);
/** 60 times the largest accepted body. */
export const bomb = () => Buffer.alloc(60 * MEGABYTES_13, ' ');

/** 50 valid payloads of the largest size: prose, incompressible text, text of escapes, and small objects. */
export function largestBatches() {
  const passage = createPassages(5);
  const text = (make: () => string) => batch(Array.from({ length: 50 }, () => `{"text":${make()}}`));
  return {
    prose: text(() => JSON.stringify(shorten(passage(PAYLOAD), PAYLOAD - 20))),
    noise: text(() => JSON.stringify(randomBytes(PAYLOAD * 0.7).toString('base64'))),
    escapes: text(() => `"${'\\u0041'.repeat(Math.floor(PAYLOAD / 6) - 10)}"`),
    fields: batch(Array.from({ length: 50 }, () => `{"text":[${repeat('{"a":1}', PAYLOAD - 20)}]}`)),
  };
}
