import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dayOf } from '../../contract/query.ts';
import { runs } from '../../contract/test/runs.ts';
import { calendarOf, DAY_MS, UTC } from '../../contract/time-zone.ts';
import { formatAgo, formatDay, localDay } from './format.ts';

const HOUR_MS = 3_600_000;

const { TZ } = process.env;
afterEach(() => move(TZ));

/** Moves this process to a time zone. */
function move(zone: string | undefined): void {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
}

describe.each(['Pacific/Auckland', 'Pacific/Honolulu', 'Asia/Kolkata', 'Europe/Berlin'])('in %s', (zone) => {
  beforeEach(() => move(zone));
  const calendar = calendarOf(zone) ?? UTC;
  const now = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2028-01-01') });
  const before = fc.integer({ min: 0, max: 72 * HOUR_MS });

  test('a session is below “Today” or “Yesterday” in the list if on:today or on:yesterday finds its start', () => {
    fc.assert(
      fc.property(now, before, (now, before) => {
        const time = now - before;
        const isIn = (name: string) => {
          const day = dayOf(name, now, calendar) ?? 0;
          return calendar.startOf(day) <= time && time < calendar.startOf(day + DAY_MS);
        };
        const day = formatDay(localDay(time), now);
        expect([day === 'Today', day === 'Yesterday']).toEqual([isIn('today'), isIn('yesterday')]);
      }),
      runs(100),
    );
  });

  test('an event of yesterday was that day, and an event of the day before was not', () => {
    fc.assert(
      fc.property(now, before, (now, before) => {
        const days = (calendar.dayAt(now) - calendar.dayAt(now - before)) / DAY_MS;
        const text = formatAgo(now - before, now);
        if (days !== 1) expect(text).not.toBe('yesterday');
        if (days > 1) expect(text).toBe(`${days} days ago`);
      }),
      runs(100),
    );
  });
});

test('the day before a change of the clock is “Yesterday” half an hour after the next midnight', () => {
  move('Pacific/Auckland');
  const now = Date.parse('2026-09-28T00:30:00+13:00');
  expect([formatDay('2026-09-27', now), formatDay('2026-09-26', now)]).toEqual(['Yesterday', 'Saturday 26 September']);
});
