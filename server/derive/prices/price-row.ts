import { type Static, Type } from 'typebox';

const Dollars = Type.Number({ minimum: 0 });

const prices = {
  input: Dollars,
  /** Absent: as `input`. */
  cached: Type.Optional(Dollars),
  /** Absent: as `input`. */
  cacheWrite: Type.Optional(Dollars),
  /** Absent: as `cacheWrite`. */
  cacheWrite1h: Type.Optional(Dollars),
  output: Dollars,
};

/** US dollars for a million tokens, from a day on. */
const DatedPrice = Type.Object({
  /** Absent: from the beginning on. */
  from: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  ...prices,
  /** For a thousand searches. */
  webSearch: Type.Optional(Dollars),
  /** The prices of all tokens of a response whose prompt is longer than `above` tokens. */
  long: Type.Optional(Type.Object({ above: Type.Integer({ minimum: 1 }), ...prices })),
});
export type DatedPrice = Static<typeof DatedPrice>;

export const PriceRow = Type.Object({
  /** The beginning of the model's name, without the prefix of a gateway. The longest match counts. */
  model: Type.String(),
  contextWindow: Type.Optional(Type.Integer({ minimum: 1 })),
  /** The window of sessions that did not request the larger one. */
  usualWindow: Type.Optional(Type.Integer({ minimum: 1 })),
  prices: Type.Array(DatedPrice),
  /** What the prices are multiplied by under other terms, such as `fast`, `priority`, `flex`, `batch` and `in:us`. */
  times: Type.Optional(Type.Record(Type.String(), Type.Number({ minimum: 0 }))),
});
export type PriceRow = Static<typeof PriceRow>;
