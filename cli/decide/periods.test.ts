import { expect, test } from 'vitest';
import { type Beginning, lineageOf } from './lineage.ts';
import {
  type Closed,
  closedAtReading,
  closedPeriodsOf,
  hasEarlier,
  openFrom,
  type PeriodDecisions,
  type RecordTimes,
  type Why,
  whyAllStays,
  whyStays,
} from './periods.ts';

const SINCE = 1000;
const PAUSE = { from: 2000, until: 3000 };
const NEVER = Number.POSITIVE_INFINITY;

const NONE: PeriodDecisions = { consent: undefined, pauses: [], expiredUntil: () => 0 };
const NO_HISTORY = { ...NONE, consent: { since: SINCE, history: 'none' as const } };
const LOST = { ...NONE, consent: { since: SINCE, history: 'none' as const, isLost: true } };
const SHOP = { ...NONE, consent: { since: SINCE, history: ['/shop'] } };
const PAUSED = { ...NONE, pauses: [PAUSE] };
const RUNNING = { ...NONE, pauses: [{ from: 2000 }] };
const EXPIRED_ONLY = { expiredUntil: () => 500 };
const EXPIRED = { ...NONE, ...EXPIRED_ONLY };

/** A record with a time of its own. */
const at = (time: number, restates = false): RecordTimes => ({
  occurredAt: time,
  written: { from: time, to: time },
  restates,
});
/** A record without a time that follows a record of this time. 0 if there is none. */
const after = (time: number, restates = false): RecordTimes => ({
  occurredAt: time,
  written: { from: time, to: NEVER },
  restates,
});
/** A record that its agent writes again with its first time. */
const again = (time: number, last: number): RecordTimes => ({
  occurredAt: time,
  written: { from: last, to: NEVER },
  restates: false,
});

/** `modifiedAt` makes it a file that was read before. */
const fileFrom = (startedAt: number, modifiedAt?: number, writtenTo = NEVER) => ({
  startedAt,
  modifiedAt: modifiedAt ?? startedAt,
  isFollowed: modifiedAt !== undefined,
  writtenTo: () => writtenTo,
});
const closedFor = (decisions: PeriodDecisions, ...lineage: Omit<Beginning, 'session'>[]): Closed[] =>
  closedPeriodsOf(
    lineage.map((one, index) => ({ session: String(index), ...one })),
    decisions,
  );

test.each<[string, RecordTimes, number | ReturnType<typeof fileFrom>, PeriodDecisions, Why | undefined]>([
  ['without decisions everything leaves', at(1), 1, NONE, undefined],
  ['a repetition leaves without decisions', after(0, true), 1, NONE, undefined],
  ['a record from before the consent stays', at(999), 500, NO_HISTORY, 'before consent'],
  ['a record from the time of the consent leaves', at(1000), 500, NO_HISTORY, undefined],
  ['a record without a time counts as the one before it', after(999), 500, NO_HISTORY, 'before consent'],
  ['a record without a time after a late one leaves', after(1000), 500, NO_HISTORY, undefined],
  ['without any time the beginning of the file counts', after(0), 999, NO_HISTORY, 'before consent'],
  ['without any time a late file leaves', after(0), 1000, NO_HISTORY, undefined],
  ['in a followed file the last change counts', after(0), fileFrom(500, 1000), NO_HISTORY, undefined],
  ['an early change of a followed file stays', after(0), fileFrom(500, 999), NO_HISTORY, 'before consent'],
  ['a record that is written again keeps its own time', again(999, 1500), 500, NO_HISTORY, 'before consent'],
  ['a repetition in an earlier session stays', at(1500, true), 500, NO_HISTORY, 'before consent'],
  ['a repetition in a later session leaves', at(1500, true), 1000, NO_HISTORY, undefined],
  ['a folder with consent leaves as a whole', at(1), fileFrom(1), SHOP, undefined],
  ['a lost decision keeps an earlier session back', at(5000), 500, LOST, 'lost decision'],
  ['a lost decision does not concern a later session', at(5000), 1000, LOST, undefined],
  ['an expired record stays', at(500), 1, EXPIRED, 'expired at the service'],
  ['a record after the expired ones leaves', at(501), 1, EXPIRED, undefined],
  ['a repetition of expired records leaves', at(501, true), 1, EXPIRED, undefined],
  ['a record before the pause leaves', at(1999), 1, PAUSED, undefined],
  ['a record at the beginning of the pause stays', at(2000), 1, PAUSED, 'pause'],
  ['a record at the end of the pause leaves', at(3000), 1, PAUSED, undefined],
  ['a record without a time may be from the pause', after(1500), 1, PAUSED, 'pause'],
  ['a record without a time after the pause leaves', after(3000), 1, PAUSED, undefined],
  ['a look from before the pause shows that it is earlier', after(1500), fileFrom(1, 1, 1999), PAUSED, undefined],
  ['a look during the pause shows nothing', after(1500), fileFrom(1, 1, 2000), PAUSED, 'pause'],
  ['a file without times that began after the pause leaves', after(0), 3000, PAUSED, undefined],
  ['a file without times that began before the pause stays', after(0), 1, PAUSED, 'pause'],
  ['a record that is written again may be from the pause', again(1500, 1600), 1, PAUSED, 'pause'],
  ['a repetition in a session of before the pause stays', at(5000, true), 2999, PAUSED, 'pause'],
  ['a repetition in a session of after the pause leaves', at(5000, true), 3000, PAUSED, undefined],
  ['nothing leaves while a pause runs', at(9000), 1, RUNNING, 'pause'],
  [
    'the end of expired records counts first',
    at(400),
    1,
    { ...EXPIRED, ...NO_HISTORY, expiredUntil: () => 500 },
    'expired at the service',
  ],
])('%s', (_, record, from, decisions, why) => {
  const file = typeof from === 'number' ? fileFrom(from) : from;
  const closed = closedFor(decisions, { startedAt: file.startedAt, folder: '/shop/src' });
  expect(whyStays(record, file, closed)).toBe(why);
});

test('a fork is as old as its oldest ancestor, and an ancestor that capture never met is older than everything', () => {
  const known: Record<string, Beginning> = {
    fork: { session: 'fork', startedAt: 1500, parents: ['parent'] },
    parent: { session: 'parent', startedAt: 900, parents: ['fork'] },
    orphan: { session: 'orphan', startedAt: 1500, parents: ['gone'] },
  };
  const lineage = (name: string) => lineageOf(known[name] as Beginning, (session) => known[session]);
  expect(lineage('fork').map(({ session }) => session)).toEqual(['fork', 'parent']);
  for (const name of ['fork', 'orphan']) {
    expect(hasEarlier(closedPeriodsOf(lineage(name), NO_HISTORY)), name).toBe(true);
    expect(openFrom(closedPeriodsOf(lineage(name), LOST)), name).toBe(Number.MAX_SAFE_INTEGER);
  }
});

test('what an ancestor lost at the service does not leave with a fork', () => {
  const expiredUntil = (session: string) => (session === 'grandparent' ? 500 : 0);
  const lineage = ['fork', 'parent', 'grandparent'].map((session) => ({ session, startedAt: 100 }));
  const closed = closedPeriodsOf(lineage, { ...NONE, expiredUntil });
  expect([at(500), at(501)].map((record) => whyStays(record, fileFrom(100), closed))).toEqual([
    'expired at the service',
    undefined,
  ]);
  expect(openFrom(closed)).toBe(501);
});

test.each([
  ['is wider', NONE, SINCE],
  ['is narrower', NO_HISTORY, undefined],
])('a consent that %s than at the last reading does not change what was left out then', (_, present, leftBefore) => {
  const closed = closedAtReading(closedFor(present, { startedAt: 500 }), leftBefore);
  expect(whyStays(at(999), fileFrom(500), closed)).toBe(leftBefore === undefined ? undefined : 'before consent');
});

test.each([
  ['before the consent stays as a whole', 999, NO_HISTORY, 'before consent'],
  ['at the time of the consent is read', 1000, NO_HISTORY, undefined],
  ['before its last expired record stays as a whole', 500, EXPIRED, 'expired at the service'],
  [
    'before the consent and its expired records lacks the consent',
    500,
    { ...NO_HISTORY, ...EXPIRED_ONLY },
    'before consent',
  ],
  ['in a pause is read, because its earlier records may leave', 2500, PAUSED, undefined],
  ['at any time stays if the decision about its session is lost', 9000, LOST, 'lost decision'],
])('a transcript that was last written %s', (_, modifiedAt, decisions, why) => {
  expect(whyAllStays(modifiedAt, closedFor(decisions, { startedAt: 100, folder: '/shop' }))).toBe(why);
});
