import { randomUUID } from 'node:crypto';

/** Values of the 12-bit count. */
const COUNTS = 4_096;

let last = 0;
let count = 0;

/**
 * 32 hexadecimal digits that sort by creation and cannot be guessed: a UUIDv7 (RFC 9562, 6.2, method 1) with 48 bits of
 * time in milliseconds, a count of 12 bits within the millisecond, and 62 random bits. If the clock steps back, or the
 * count overflows, the time runs ahead of the clock. `randomUUID` is fast because it draws random bytes in bulk.
 */
export function newUuid(now = Date.now()): string {
  if (now > last) {
    last = now;
    count = 0;
  } else if (++count === COUNTS) {
    last++;
    count = 0;
  }
  const random = randomUUID();
  return `${hex(last, 12)}7${hex(count, 3)}${random.slice(19, 23)}${random.slice(24)}`;
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');

export type IdPrefix =
  | 'org'
  | 'usr'
  | 'sec'
  | 'env'
  | 'ins'
  | 'ses'
  | 'viw'
  | 'hol'
  | 'msk'
  | 'mrn'
  | 'shr'
  | 'dir'
  | 'dit';

/** An opaque id such as `ses_01997f…`. */
export const newId = (prefix: IdPrefix, now?: number): string => `${prefix}_${newUuid(now)}`;

/** The id of the event at `index` of an append. Ids sort in the order of the events. */
export const eventId = (appendId: string, index: number): string =>
  `evt_${appendId}${index.toString(16).padStart(2, '0')}`;
