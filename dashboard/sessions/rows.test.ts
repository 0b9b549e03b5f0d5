import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import type { ViewSearch } from '../../contract/view.ts';
import type { SessionPages } from '../app/queries.ts';
import { costOf } from '../shared/session-cost.tsx';
import { repositoryName, startOf, titleOf } from '../shared/session-title.ts';
import { sessionRow as row } from '../test/rows.ts';
import { COLUMNS, columnsFor } from './columns.tsx';
import { applyChange, applyRows, applySummaries, insertRows, rowsOf } from './live-rows.ts';
import { beginNearMark, cutMarks } from './marks.ts';
import { isSameSearch, readViewSearch, writeViewSearch } from './views.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');

test('a session starts with its first event if it was opened later', () => {
  const { session, summary } = row('ses_1');
  const at = (firstEventAt: string) => new Date(startOf(session, { ...summary, firstEventAt })).toISOString();
  expect(at('2026-01-07T09:29:46.000Z')).toBe('2026-01-07T09:29:46.000Z');
  expect(at('2026-11-21T10:00:00.000Z')).toBe(session.startedAt);
  expect(startOf(session, undefined)).toBe(Date.parse(session.startedAt));
});

const pages = (...ids: string[][]): SessionPages => ({
  pages: ids.map((page) => ({ sessions: page.map((id) => row(id)), nextCursor: null })),
  pageParams: ids.map(() => undefined),
});
const idsOf = (data: SessionPages) => rowsOf(data).map(({ session }) => session.sessionId);

test('a live change updates its row, and no row moves', () => {
  const changed = applyChange(pages(['a', 'b'], ['c']), { sessionId: 'c', eventCount: 9, status: 'failed' }, NOW);
  expect(idsOf(changed)).toEqual(['a', 'b', 'c']);
  expect(rowsOf(changed)[2]?.session).toMatchObject({
    status: 'failed',
    eventCount: 9,
    endedAt: '2026-11-21T12:00:00.000Z',
  });
});

test('a late change does not lower the number of events', () => {
  const changed = applyChange(pages(['a']), { sessionId: 'a', eventCount: 3, status: 'active' }, NOW);
  expect(rowsOf(changed)[0]?.session.eventCount).toBe(5);
});

test('deleted sessions are removed, and figures are updated', () => {
  const deleted = applyChange(pages(['a', 'b']), { sessionId: 'a', eventCount: 5, status: 'deleted' }, NOW);
  expect(idsOf(deleted)).toEqual(['b']);
  const summary = row('b', undefined, 7).summary;
  expect(rowsOf(applySummaries(deleted, new Map([['b', summary]])))[0]?.summary.failures).toBe(7);
  expect(rowsOf(applyRows(deleted, [row('b', undefined, 8)]))[0]?.summary.failures).toBe(8);
});

test('new sessions are inserted once, by their start', () => {
  const data = pages(['a'], ['b']);
  const fresh = [row('new', '2026-11-21T10:00:00.000Z'), row('b')];
  const inserted = insertRows(insertRows(data, fresh), fresh);
  expect(idsOf(inserted)).toEqual(['new', 'a', 'b']);
});

test('in a narrow line, a hit begins shortly before its first word', () => {
  const text = 'a long way before the timeout comes at last';
  const from = beginNearMark(text, [[22, 29]]);
  expect(cutMarks(text, [[22, 29]], from).map(({ piece }) => piece)).toEqual([
    'way before the ',
    'timeout',
    ' comes at last',
  ]);
  expect(beginNearMark(text, [[2, 6]])).toBe(0);
  expect(beginNearMark('x'.repeat(40), [[30, 35]])).toBe(30);
  expect(beginNearMark(text, [])).toBe(0);
});

test('invalid marks of a hit do no harm', () => {
  expect(cutMarks('a timeout here', [[2, 9]])).toEqual([
    { start: 0, piece: 'a ', isMarked: false },
    { start: 2, piece: 'timeout', isMarked: true },
    { start: 9, piece: ' here', isMarked: false },
  ]);
  expect(cutMarks('x\u202ey', [[2, 3]]).map(({ piece }) => piece)).toEqual(['x⟨U+202E⟩', 'y']);
  const mark = fc.tuple(fc.integer({ min: -5, max: 40 }), fc.integer({ min: -5, max: 40 }));
  fc.assert(
    fc.property(fc.string({ maxLength: 30 }), fc.array(mark, { maxLength: 4 }), (text, marks) => {
      const pieces = cutMarks(text, marks);
      const ends = [...pieces.slice(1).map(({ start }) => start), text.length];
      expect(pieces.map(({ start }, at) => text.slice(start, ends[at])).join('')).toBe(text);
    }),
    runs(300),
  );
});

test.each([
  ['https://github.com/acme/billing.git', 'acme/billing'],
  ['git@github.com:acme/billing.git', 'acme/billing'],
  ['github.com/acme/billing', 'acme/billing'],
  ['github.com/other/billing', 'other/billing'],
  ['/home/ada/work/billing', 'work/billing (folder)'],
  ['C:\\work\\billing\\', 'work/billing (folder)'],
  ['/billing', 'billing (folder)'],
  ['/', '/ (folder)'],
])('the repository %s is called %s', (repository, name) => {
  expect(repositoryName(repository)).toBe(name);
});

test('a session with a meaningless title is named by its first prompt', () => {
  const { session, summary } = row('ses_1');
  const called = (title: string) => titleOf({ ...session, title }, { ...summary, firstPrompt: 'Limit the rates' });
  expect(called('Implement the following plan:')).toBe('Limit the rates');
  expect(called('Rates')).toBe('Rates');
});

test('a cost without input tokens says so', () => {
  const { summary } = row('ses_1');
  const costing = (more: object) => costOf({ ...summary, ...more }).text;
  expect(costing({ cost: 1.5, inputTokens: 10, outputTokens: 5 })).toBe('$1.50');
  expect(costing({ cost: 1.5, inputTokens: 0, outputTokens: 5 })).toBe('> $1.50');
  expect(costing({ cost: undefined })).toBe('');
});

test('a narrow list has the important columns, a wide one has all', () => {
  const labels = (width: number) => columnsFor(width).map(({ label }) => label);
  expect(labels(2000)).toEqual(COLUMNS.map(({ label }) => label));
  expect(labels(600)).toEqual(['Started']);
  expect(labels(320)).toEqual([]);
  for (const width of [560, 720, 900, 1016, 1200]) {
    const taken = columnsFor(width).reduce((sum, column) => sum + column.width + 12, 100);
    expect(width - taken).toBeGreaterThan(230);
  }
});

test('a saved view restores the search, also from another version', () => {
  const search = { q: 'failed:yes', plane: 'all', order: 'cost' } as const;
  expect(readViewSearch(writeViewSearch(search))).toEqual(search);
  expect(writeViewSearch({ plane: undefined })).toEqual({});
  const later = { q: 'a', order: 'luck', secretEnvironment: 'live' } as unknown as ViewSearch;
  expect(readViewSearch(later)).toEqual({ q: 'a' });
  expect(isSameSearch({ q: 'a' }, { q: 'a', order: undefined })).toBe(true);
  expect(isSameSearch({ q: 'a' }, { q: 'a', plane: 'all' })).toBe(false);
});
