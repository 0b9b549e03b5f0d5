import { randomUUID } from 'node:crypto';

/**
 * 32 hexadecimal digits that sort by creation and cannot be guessed: 48 bits of time in milliseconds, then 76 random
 * ones, laid out as a UUIDv7 (RFC 9562). Built on `randomUUID`, which draws its random bytes in bulk.
 */
export function newUuid(now = Date.now()): string {
  const random = randomUUID();
  return `${now.toString(16).padStart(12, '0')}7${random.slice(15, 18)}${random.slice(19, 23)}${random.slice(24)}`;
}

export type IdPrefix = 'org' | 'usr' | 'sec' | 'env' | 'ins' | 'ses';

/** An opaque id such as `ses_01997f…`. */
export const newId = (prefix: IdPrefix): string => `${prefix}_${newUuid()}`;

/** The id of the event at `index` of the append; sorts as the events do. */
export const eventId = (appendId: string, index: number): string =>
  `evt_${appendId}${index.toString(16).padStart(2, '0')}`;
