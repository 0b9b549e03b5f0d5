import { Problem } from '../contract/problem.ts';

/** Cursors are base64url of `o:<offset>` or `s:<sequence>`, and opaque to callers. */
type Kind = 'o' | 's';

/** Smallest and largest value of each kind. The first page needs no cursor, so 0 is never issued. */
const BOUNDS: Record<Kind, [first: number, last: number]> = { o: [1, 2 ** 31 - 1], s: [1, 2 ** 48] };

export const writeOffset = (offset: number): string => write('o', offset);
export const writeSequence = (sequence: number): string => write('s', sequence);

/** @throws Problem `validation_failed` for anything `writeOffset` did not make */
export const readOffset = (cursor: string): number => read('o', cursor);
/** @throws Problem `validation_failed` for anything `writeSequence` did not make */
export const readSequence = (cursor: string): number => read('s', cursor);

const write = (kind: Kind, value: number) => Buffer.from(`${kind}:${value}`).toString('base64url');

function read(kind: Kind, cursor: string): number {
  const match = /^([os]):([1-9]\d{0,14})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  const value = Number(match?.[2]);
  const [first, last] = BOUNDS[kind];
  if (match?.[1] !== kind || value < first || value > last || write(kind, value) !== cursor) {
    throw new Problem('validation_failed', '/cursor is not a cursor of this list. Leave it out for the first page.');
  }
  return value;
}
