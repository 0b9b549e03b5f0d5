import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { fieldOf, readBar, settledText, splitTyped, takeFilters, writeBar } from './bar.ts';
import { suggest, withField } from './suggestions.ts';

const codex = { field: 'agent', value: 'codex' } as const;

test('a query becomes chips and text, and becomes the same query again', () => {
  expect(readBar('agent:codex timeout "two words"')).toEqual({ filters: [codex], text: 'timeout "two words"' });
  expect(writeBar({ filters: [codex], text: 'timeout "two words"' })).toBe('agent:codex timeout "two words"');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (q) => {
      const written = writeBar(readBar(q));
      expect(writeBar(readBar(written))).toBe(written);
    }),
    runs(300),
  );
});

test.each([
  ['a filter and a blank', 'agent:codex ', { filters: [codex], text: '' }],
  ['a filter among words', 'slow agent:codex que', { filters: [codex], text: 'slow que' }],
  ['a filter that may be unfinished', 'agent:codex', { filters: [], text: 'agent:codex' }],
  ['a quoted filter that is not closed', 'repo:"two wo', { filters: [], text: 'repo:"two wo' }],
  ['words alone', 'two words ', { filters: [], text: 'two words ' }],
])('during typing, %s', (_, text, bar) => {
  expect(takeFilters({ filters: [], text }, false)).toEqual(bar);
});

test('an exclusion is a chip, which can be removed, and the address says it in words', () => {
  const bar = takeFilters({ filters: [], text: 'timeout not:retry not:"gave up" ' }, false);
  const filters = [
    { field: 'not', value: 'retry' },
    { field: 'not', value: 'gave up' },
  ];
  expect(bar).toEqual({ filters, text: 'timeout ' });
  expect(writeBar(bar)).toBe('not:retry not:"gave up" timeout');
});

test('when typing ends, the last filter becomes a chip as well, and no filter is repeated', () => {
  expect(takeFilters({ filters: [], text: 'slow agent:codex' }, true)).toEqual({ filters: [codex], text: 'slow ' });
  expect(takeFilters({ filters: [codex], text: 'agent:codex' }, true)).toEqual({ filters: [codex], text: '' });
  expect(writeBar({ filters: [codex], text: 'agent:codex' })).toBe('agent:codex');
});

test('the search during typing leaves out an unfinished filter', () => {
  expect(settledText('slow agent:co')).toBe('slow ');
  expect(settledText('slow que')).toBe('slow que');
});

test('the piece that the person is typing is split off', () => {
  expect(splitTyped('a "b c')).toEqual({ head: 'a ', tail: '"b c' });
  expect(splitTyped('👍 x')).toEqual({ head: '👍 ', tail: 'x' });
  expect(fieldOf('repo:"a b')).toEqual({ field: 'repo', value: 'a b' });
  expect(fieldOf('http://x')).toBeUndefined();
});

describe('the query bar suggests', () => {
  const known = { agent: [{ value: 'claude-code', label: 'Claude Code' }, { value: 'codex' }] };
  const labels = (text: string) => suggest(text, known).map(({ label }) => label);

  test('every field at first, then fields that begin with the typed text', () => {
    expect(labels('')).toContain('repo:');
    expect(labels('slow b')).toEqual(['branch:', 'before:']);
    expect(labels('slow ')).toEqual([]);
    expect(labels('timeout')).toEqual([]);
  });

  test('a known value by any part of its name', () => {
    expect(labels('agent:')).toEqual(['Claude Code', 'codex']);
    expect(labels('slow AGENT:CODE')).toEqual(['codex', 'Claude Code']);
    expect(suggest('agent:claude', known)).toEqual([
      { field: 'agent', value: 'claude-code', label: 'Claude Code', hint: 'claude-code' },
    ]);
    expect(labels('failed:')).toEqual(['yes', 'no']);
    expect(labels('branch:')).toEqual([]);
  });

  test('to leave out sessions with a word if it begins with a dash, without reading it so', () => {
    expect(suggest('rm -rf', known)).toEqual([
      { field: 'not', value: 'rf', label: 'not:rf', hint: 'leaves out sessions with rf' },
    ]);
    expect(labels('git push --for')).toEqual([]);
    expect(readBar('rm -rf')).toEqual({ filters: [], text: 'rm -rf' });
  });

  test('a field, which replaces the typed beginning', () => {
    expect(withField('slow ag', 'agent')).toBe('slow agent:');
  });
});
