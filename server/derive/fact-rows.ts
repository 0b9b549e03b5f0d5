import type { SessionDay } from '../store/session-rows.ts';
import { dayRowsOf, type SessionOrigin } from './day-rows.ts';
import type { Facts } from './facts.ts';
import { compareValues, type Value, type Values, valuesOf } from './values.ts';

/** The rows beside a session's facts, which a slice writes only where they have changed. */
export interface FactRows {
  days: SessionDay[];
  values: Values;
}

export interface RowChanges {
  /** Undefined if they have not changed. */
  days: SessionDay[] | undefined;
  values: Record<'added' | 'removed', Value[]>;
}

export const rowsOf = (facts: Facts, origin: SessionOrigin): FactRows => ({
  days: dayRowsOf(facts, origin),
  values: valuesOf(facts),
});

export const compareRows = (before: FactRows, after: FactRows): RowChanges => ({
  days: isSame(before.days, after.days) ? undefined : after.days,
  values: compareValues(before.values, after.values),
});

const isSame = (before: readonly object[], after: readonly object[]): boolean =>
  before.length === after.length && JSON.stringify(before) === JSON.stringify(after);
