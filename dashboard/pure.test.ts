import { describe, expect, test } from 'vitest';
import { ServiceError } from '../contract/client.ts';
import { paths } from '../contract/pages.ts';
import { wordError } from './app/api.ts';
import { readFrameSearch, readSessionSearch } from './app/search.ts';
import {
  formatAgo,
  formatCost,
  formatCount,
  formatDuration,
  formatLeft,
  formatPart,
  formatShort,
} from './kit/format.ts';

const ARGUMENTS: Record<string, unknown[]> = {
  session: ['s/1', 7],
  device: ['s/1'],
  member: ['u/1'],
  holds: ['s/1'],
  share: ['t-1'],
};

test('every address', () => {
  const given: Record<string, string> = {};
  for (const [name, path] of Object.entries(paths))
    given[name] = (path as (id?: unknown, at?: number) => string)(...(ARGUMENTS[name] ?? []));
  expect(given).toEqual({
    home: '/',
    sessions: '/sessions',
    addOns: '/add-ons',
    session: '/sessions/s%2F1?e=7',
    compare: '/compare',
    device: '/device?code=s%2F1',
    environments: '/environments',
    agents: '/agents',
    members: '/members',
    member: '/members/u%2F1',
    secrets: '/secrets',
    organization: '/organization',
    policy: '/policy',
    audit: '/audit',
    holds: '/holds?session=s%2F1',
    welcome: '/welcome',
    share: '/s/t-1',
    signedIn: '/signed-in',
  });
});

test('invalid query strings are ignored', () => {
  expect(readFrameSearch({ plane: 'test' })).toEqual({ plane: 'test' });
  expect(readFrameSearch({ plane: 'live' })).toEqual({});
  expect(readSessionSearch({ e: '12' })).toEqual({ e: 12 });
  for (const e of ['0', -1, 'x', 1.5, undefined, [3, 4]]) expect(readSessionSearch({ e })).toEqual({});
});

describe('errors in words', () => {
  test('include the code and the request id', () => {
    const headers = new Headers({ 'x-request-id': 'r-1' });
    const error = new ServiceError(409, { error: 'You belong to one.', code: 'organization_exists' }, headers);
    expect(wordError(error)).toEqual({
      title: 'Already done',
      advice: 'You belong to one.',
      small: 'organization_exists · request r-1',
      isFinal: false,
    });
  });

  test('exist for every kind of error', () => {
    const statuses = [400, 401, 403, 404, 409, 429, 500, 502, 503].map(
      (status) => new ServiceError(status, {}, new Headers()),
    );
    for (const error of [...statuses, new TypeError('fetch failed'), new Error('odd'), 'odd']) {
      const { title, advice } = wordError(error);
      expect(title.length * advice.length).toBeGreaterThan(0);
    }
  });
});

test.each([
  [60_000, '1 h'],
  [47 * 3_600_000, '47 h'],
  [48 * 3_600_000, '2 days'],
  [7 * 86_400_000 - 1, '7 days'],
])('%i ms before it expires, a link has %s', (milliseconds, text) => {
  expect(formatLeft(milliseconds, 0)).toBe(text);
});

test.each([
  [-5, '0 ms'],
  [340, '340 ms'],
  [2_400, '2.4 s'],
  [14_000, '14 s'],
  [59_700, '1 min'],
  [2_472_000, '41 min 12 s'],
  [11_100_000, '3 h 05 min'],
  [24 * 3_600_000, '1 d'],
  [106 * 3_600_000 + 120_000, '4 d 10 h'],
])('%i ms is %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});

test.each([
  [0, '0'],
  [9_999, '9,999'],
  [12_340, '12.3k'],
  [223_400, '223k'],
  [4_500_000, '4.5M'],
  [999_400_000, '999M'],
  [7_200_000_000, '7.2B'],
  [3.14e12, '3.1T'],
  [1e302, '>999T'],
  [Number.POSITIVE_INFINITY, '>999T'],
  [Number.NaN, '>999T'],
])('%d in short is %s', (count, text) => {
  expect(formatShort(count)).toBe(text);
});

test.each([
  [0, '$0.00'],
  [0.0004, '<$0.01'],
  [0.412, '$0.41'],
  [1204.4, '$1,204'],
  [45_200, '$45.2k'],
])('%d dollars are %s', (dollars, text) => {
  expect(formatCost(dollars)).toBe(text);
});

test.each([
  [0, '0 %'],
  [0.0004, '<1 %'],
  [0.042, '4.2 %'],
  [0.38, '38 %'],
  [1, '100 %'],
])('the part %d is %s', (part, text) => {
  expect(formatPart(part)).toBe(text);
});

test.each([
  [1234, '1,234'],
  [1e302, '>1,000,000,000,000,000'],
])('%d is written %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

test.each([
  [-60, 'just now'],
  [30, '30 s ago'],
  [90, '2 min ago'],
  [3 * 3600, '3 h ago'],
  [26 * 3600, 'yesterday'],
  [3 * 86_400, '3 days ago'],
])('%i s ago is %s', (seconds, text) => {
  const now = Date.parse('2026-11-21T12:00:00');
  expect(formatAgo(now - seconds * 1000, now)).toBe(text);
});
