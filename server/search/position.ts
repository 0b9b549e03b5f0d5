import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { Problem } from '../../contract/problem.ts';
import type { Order } from '../../contract/review.ts';
import type { Position } from './search-sessions.ts';

const Sequence = Type.Integer({ minimum: 1, maximum: 2 ** 48 });
const SessionId = Type.String({ maxLength: 100, pattern: '^[^\\u0000]*$' });

/** What a cursor holds. The names are short because cursors stand in addresses. */
const Held = Type.Object({
  p: Type.Optional(Type.Tuple([Type.Number(), SessionId])),
  u: Type.Optional(
    Type.Tuple([SessionId, Sequence, Type.Array(Type.Integer({ minimum: 0, maximum: 100 }), { maxItems: 100 })]),
  ),
});

/** Writes where a page ended as the cursor for the next page, which is opaque to callers. */
export function writePosition({ place, unfinished }: Position): string {
  const held: Static<typeof Held> = {
    ...(place && { p: [place.value, place.sessionId] }),
    ...(unfinished && { u: [unfinished.sessionId, unfinished.from, [...unfinished.proven]] }),
  };
  return Buffer.from(JSON.stringify(held)).toString('base64url');
}

/** @throws Problem `validation_failed` for anything but a cursor that was given out for the order */
export function readPosition(cursor: string, order: Order): Position {
  const held = parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (!Value.Check(Held, held) || (held.p && !isOfOrder(held.p[0], order))) {
    throw new Problem('validation_failed', '/cursor is not one this search gave out. Leave it out for the first page.');
  }
  const { p, u } = held;
  return {
    ...(p && { place: { value: p[0], sessionId: p[1] } }),
    ...(u && { unfinished: { sessionId: u[0], from: u[1], proven: u[2] } }),
  };
}

/** Orders whose values exceed 32 bits. PostgreSQL refuses longer values for the columns of the others. */
const LONG: readonly Order[] = ['started', 'duration', 'tokens'];

const isOfOrder = (value: number, order: Order): boolean =>
  order === 'cost' ||
  (LONG.includes(order) ? Number.isSafeInteger(value) : value === Math.trunc(value) && Math.abs(value) < 2 ** 31);

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
