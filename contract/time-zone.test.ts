import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from './test/runs.ts';
import { calendarOf, DAY_MS, UTC } from './time-zone.ts';

const ZONES = [
  'Pacific/Auckland',
  'Pacific/Honolulu',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Europe/Berlin',
  'America/St_Johns',
  'America/Havana',
  'America/Sao_Paulo',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kiritimati',
];
const HOUR_MS = 3_600_000;

describe.each(ZONES)('the days of %s', (zone) => {
  const { dayAt, startOf } = calendarOf(zone) ?? UTC;
  const time = fc.integer({ min: Date.parse('1995-01-01'), max: Date.parse('2040-01-01') });

  test('follow each other without a gap, so that a time is in exactly one day', () => {
    fc.assert(
      fc.property(time, (time) => {
        const near = [-2, -1, 0, 1, 2].map((count) => dayAt(time) + count * DAY_MS);
        const starts = near.map(startOf);
        expect(starts).toEqual(starts.toSorted((one, other) => one - other));
        const around = near.filter((day) => startOf(day) <= time && time < startOf(day + DAY_MS));
        expect(around).toHaveLength(1);
      }),
      runs(30),
    );
  });

  test('begin at the first moment that the clock shows them', () => {
    fc.assert(
      fc.property(time, (time) => {
        const start = startOf(dayAt(time));
        expect(dayAt(start)).toBeGreaterThanOrEqual(dayAt(time));
        expect(dayAt(start - 1)).toBeLessThan(dayAt(time));
      }),
      runs(30),
    );
  });
});

test.each([
  ['Pacific/Auckland', '2026-04-05', '2026-04-04T11:00:00Z', 25],
  ['Pacific/Auckland', '2026-09-27', '2026-09-26T12:00:00Z', 23],
  ['Pacific/Auckland', '2026-11-28', '2026-11-27T11:00:00Z', 24],
  ['Pacific/Honolulu', '2026-11-28', '2026-11-28T10:00:00Z', 24],
  ['Asia/Kolkata', '2026-11-28', '2026-11-27T18:30:00Z', 24],
  ['Asia/Kathmandu', '2026-11-28', '2026-11-27T18:15:00Z', 24],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00Z', 25],
  // The clock goes from midnight to one o'clock.
  ['America/Havana', '2026-03-08', '2026-03-08T05:00:00Z', 23],
  ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30:00Z', 23.5],
  // The date line moved over Samoa, which had no such day.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z', 0],
])('in %s, %s begins at %s and lasts %d hours', (zone, day, start, hours) => {
  const calendar = calendarOf(zone) ?? UTC;
  expect(calendar.startOf(Date.parse(day))).toBe(Date.parse(start));
  expect(calendar.startOf(Date.parse(day) + DAY_MS) - Date.parse(start)).toBe(hours * HOUR_MS);
});

test('UTC is the zone of that name', () => {
  const utc = calendarOf('UTC') ?? UTC;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.parse('9999-12-31') }), (time) => {
      expect(utc.dayAt(time)).toBe(UTC.dayAt(time));
      expect(utc.startOf(UTC.dayAt(time))).toBe(UTC.startOf(UTC.dayAt(time)));
    }),
    runs(50),
  );
});

test('a name that no time zone has gives no calendar', () => {
  for (const zone of ['', 'x', 'Pacific/Atlantis', '2026-11-28']) expect(calendarOf(zone), zone).toBeUndefined();
});
