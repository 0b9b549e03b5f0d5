import { v7 } from 'uuid';

/** 32 hexadecimal digits of a UUIDv7: unguessable, and sorting by creation. */
export const newUuid = (): string => v7().replaceAll('-', '');

export type IdPrefix = 'org' | 'usr' | 'sec' | 'env' | 'ins' | 'ses';

/** An opaque id such as `ses_01997f…`. */
export const newId = (prefix: IdPrefix): string => `${prefix}_${newUuid()}`;

/** The id of the event at `index` of the append; sorts as the events do. */
export const eventId = (appendId: string, index: number): string =>
  `evt_${appendId}${index.toString(16).padStart(2, '0')}`;
