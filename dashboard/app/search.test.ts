import fc from 'fast-check';
import { expect, test } from 'vitest';
import { paths, type SessionsSearch, stringifySearch } from '../../contract/pages.ts';
import { runs } from '../../contract/test/runs.ts';
import { parseSearch, readOverviewSearch, readSessionSearch, readSessionsSearch } from './search.ts';

test('the address of a list restores any search', () => {
  const search = fc.record(
    {
      q: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((q) => q.trim() !== ''),
      order: fc.constantFrom('cost', 'failures'),
      direction: fc.constant('asc'),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(search, (given) => {
      const { searchParams, search: text } = new URL(paths.sessions(given as SessionsSearch), 'http://localhost');
      expect(readSessionsSearch(parseSearch(text))).toEqual(given);
      expect(searchParams.get('q') ?? undefined).toBe(given.q);
    }),
    runs(200),
  );
});

test('a query that looks like a number, a JSON word or a quoted text stays a text', () => {
  for (const q of ['123', 'true', 'null', '"two words"', '{"a":1}', 'a+b c&d=e#f']) {
    expect(readSessionsSearch(parseSearch(stringifySearch({ q })))).toEqual({ q });
  }
});

test.each([
  [{ order: 'name', direction: 'up', q: 7 }, {}],
  [{ order: 'started', q: '  ' }, {}],
])('the list reads %j as %j', (given, read) => {
  expect(readSessionsSearch(given)).toEqual(read);
});

test.each([
  [{}, {}],
  [
    { days: '7', by: 'model' },
    { days: 7, by: 'model' },
  ],
  [{ days: '30', by: 'agent' }, {}],
  [{ days: '8', by: 'moon' }, {}],
  [
    { from: '2026-11-01', to: '2026-11-30', days: '7' },
    { from: '2026-11-01', to: '2026-11-30' },
  ],
  [{ from: '2026-11-30', to: '2026-11-01' }, {}],
  [{ from: '2026-13-40', to: '2026-11-01' }, {}],
  [{ from: '2026-11-01' }, {}],
])('the overview reads %j as %j', (given, read) => {
  expect(readOverviewSearch(given)).toEqual(read);
});

test('a hit links to its event and passes the words on', () => {
  expect(readSessionSearch({ e: '12', find: 'timeout' })).toEqual({ e: 12, find: 'timeout' });
  expect(readSessionSearch({ e: 'x', find: '' })).toEqual({});
});
