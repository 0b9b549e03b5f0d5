import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Order } from '../../contract/names.ts';
import { Problem } from '../../contract/problem.ts';
import type { Position } from './search-sessions.ts';

const Count = Type.Integer({ minimum: 0, maximum: 2 ** 48 });
const SessionId = Type.String({ maxLength: 100, pattern: '^[^\\u0000]*$' });

/** The fields of a cursor. Their names are short, because a cursor is part of an address. */
const Fields = Type.Object({
  p: Type.Optional(Type.Tuple([Type.Number(), SessionId])),
  u: Type.Optional(
    Type.Tuple([
      SessionId,
      Count,
      Type.Array(Type.Integer({ minimum: 0, maximum: 100 }), { maxItems: 100 }),
      Count,
      Count,
    ]),
  ),
});

/** Writes the end of a page as the cursor for the next one, opaque to callers. */
export function writePosition({ place, unfinished }: Position): string {
  const fields: Static<typeof Fields> = {
    ...(place && { p: [place.value, place.sessionId] }),
    ...(unfinished && {
      u: [unfinished.sessionId, unfinished.from, [...unfinished.proven], unfinished.seen, unfinished.tried],
    }),
  };
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/** @throws Problem `validation_failed` for anything but a cursor of the order */
export function readPosition(cursor: string, order: Order): Position {
  const fields = parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (!Value.Check(Fields, fields) || (fields.p && !isOfOrder(fields.p[0], order))) {
    throw new Problem('validation_failed', '/cursor is not a cursor of this search. Leave it out for the first page.');
  }
  const { p, u } = fields;
  return {
    ...(p && { place: { value: p[0], sessionId: p[1] } }),
    ...(u && { unfinished: { sessionId: u[0], from: u[1], proven: u[2], seen: u[3], tried: u[4] } }),
  };
}

/** Orders with values of more than 32 bits. PostgreSQL refuses such values for the columns of the others. */
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
