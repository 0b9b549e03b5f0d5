import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentsCalled, dayOf, parseQuery, parseWords, termsOf, timeOf } from './query.ts';
import { runs } from './test/runs.ts';
import { type Calendar, calendarOf, UTC } from './time-zone.ts';
import { FIELDS, type Filter, formatQuery, type Term } from './written-query.ts';

describe('the text in the search bar', () => {
  test('contains words, phrases, prefixes, exclusions and filters', () => {
    expect(
      parseQuery('agent:codex repo:"my repo" "connection reset" timeout* not:retry not:"gave up" file:queue*'),
    ).toEqual({
      filters: [
        { field: 'agent', value: 'codex' },
        { field: 'repo', value: 'my repo' },
        { field: 'not', value: 'retry' },
        { field: 'not', value: 'gave up' },
        { field: 'file', value: 'queue*' },
      ],
      terms: [{ text: 'connection reset' }, { text: 'timeout', prefix: true }],
      problems: [],
    });
  });

  test.each([
    ['getUserById(42)', [{ text: 'getUserById(42)' }]],
    ['src/queue.ts', [{ text: 'src/queue.ts' }]],
    ['https://example.com', [{ text: 'https://example.com' }]],
    ['C:\\Users', [{ text: 'C:\\Users' }]],
    ['12:30', [{ text: '12:30' }]],
    ['--force', [{ text: '--force' }]],
    ['rm -rf', [{ text: 'rm' }, { text: '-rf' }]],
    ['ls -la', [{ text: 'ls' }, { text: '-la' }]],
    ['git push -f', [{ text: 'git' }, { text: 'push' }, { text: '-f' }]],
    ['go test -run X', [{ text: 'go' }, { text: 'test' }, { text: '-run' }, { text: 'X' }]],
    ['-"gave up"', [{ text: 'gave up' }]],
    ['-agent:codex', [{ text: '-agent:codex' }]],
    ['"say \\"hi\\""', [{ text: 'say "hi"' }]],
    ['"time out"*', [{ text: 'time out', prefix: true }]],
    ['上传失败', [{ text: '上传失败' }]],
  ])('contains words that are not filters: %s', (text, terms) => {
    expect(parseQuery(text)).toEqual({ terms, filters: [], problems: [] });
  });

  test.each([
    ['agent:nobody', 'no agent is called nobody'],
    ['before:someday', 'takes a date'],
    ['after:2026-02-30', 'takes a date'],
    ['after:2026-02-30T10:00Z', 'takes a date'],
    ['before:2026-11-21T24:00Z', 'takes a date'],
    ['before:2026-11-21T10:00', 'a time such as 2026-11-21T14:30Z'],
    ['on:2026-11-21T10:00Z', 'takes a day'],
    ['hour:14', 'hour of the week'],
    ['hour:wed-24', 'hour of the week'],
    ['failed:maybe', 'yes or no'],
    ['tests:blue', 'red, green or fixed'],
    ['on:7d', 'takes a day'],
    ['status:open', 'active, completed or failed'],
    ['repo:""', 'needs a value'],
    ['file:*queue*', 'the beginning of a name'],
    ['edited:*.ts', 'such as edited:queue*'],
    ['not:=>', 'neither letters nor digits'],
    ['not:ab*', '3 letters'],
  ])('reports the problem with %s, and searches it as words', (text, problem) => {
    const { filters, problems, terms } = parseQuery(text);
    expect(filters).toEqual([]);
    expect(terms).toHaveLength(1);
    expect(problems.join()).toContain(problem);
  });

  test('reports an unclosed quote, and a term without letters and digits', () => {
    expect(parseQuery('"half a')).toMatchObject({
      terms: [{ text: 'half a' }],
      problems: [expect.stringContaining('not closed')],
    });
    expect(parseQuery('=> ""')).toMatchObject({
      terms: [],
      problems: [expect.stringContaining('neither letters nor digits'), expect.stringContaining('left out')],
    });
  });

  test('reports a prefix that matches everything, and too many words', () => {
    expect(parseQuery('ab* abc*')).toMatchObject({
      terms: [{ text: 'abc', prefix: true }],
      problems: [expect.stringContaining('3 letters')],
    });
    const { terms, problems } = parseQuery('word '.repeat(26));
    expect(terms).toHaveLength(24);
    expect(problems).toHaveLength(2);
    expect(parseQuery(`before "${'word '.repeat(64)}" ${'a.'.repeat(63)}`)).toMatchObject({
      terms: [{ text: 'before' }, { text: 'a.'.repeat(63) }],
      problems: [expect.stringContaining('a search takes at most 64 words')],
    });
    expect(parseQuery('abc* bcd* cde* "d e f"* efg* fgh')).toMatchObject({
      terms: [{}, {}, {}, {}, { text: 'fgh' }],
      problems: ['efg* is left out: a search takes at most 4 words with a *.'],
    });
  });

  test('uses a limited number of filters, and each once', () => {
    const many = Array.from({ length: 25 }, (_, n) => `file:${n}*`).join(' ');
    const query = parseQuery(`${'file:0* '.repeat(30)}${many}`);
    expect(query.filters.at(-1)).toEqual({ field: 'file', value: '23*' });
    expect(query.problems[0]).toContain('file:24* is searched as words: only 24 filters count at once');
  });

  test('never makes the parser throw, and parses the same after it is formatted', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), mostlySyntax), (text) => {
        const { terms, filters } = parseQuery(text);
        const again = parseQuery(formatQuery({ terms, filters }));
        expect(again).toMatchObject({ terms, filters });
        expect(again.problems).toHaveLength(terms.filter(({ mistaken }) => mistaken).length);
      }),
      runs(500),
    );
  });

  test('keeps every chosen filter when it is formatted and parsed', () => {
    fc.assert(
      fc.property(fc.array(term, { maxLength: 4 }), fc.array(filter, { maxLength: 20 }), (terms, filters) => {
        expect(parseQuery(formatQuery({ terms, filters }))).toEqual({ terms, filters, problems: [] });
      }),
      runs(300),
    );
  });
});

describe('the text in the search of one session', () => {
  test.each(['-rf', '--json', 'status:completed', 'file:queue.ts', 'before:2026-01-01', 'file:"a b"'])(
    'is a plain word within a session: %s',
    (text) => {
      expect(parseWords(text)).toEqual({ terms: [{ text }], filters: [], problems: [] });
    },
  );

  test('contains phrases and prefixes', () => {
    expect(parseWords('"gave up" time* -"say \\"hi\\""').terms).toEqual([
      { text: 'gave up' },
      { text: 'time', prefix: true },
      { text: 'say "hi"' },
    ]);
  });

  test('keeps the terms of a link from the search bar', () => {
    fc.assert(
      // The parser drops further words with a star, and says so.
      fc.property(fc.array(term, { maxLength: 4 }), (terms) => {
        expect(parseWords(formatQuery({ terms, filters: [] })).terms).toEqual(terms);
      }),
      runs(300),
    );
  });
});

const mostlySyntax = fc
  .array(fc.constantFrom('"', '\\', '*', '-', ':', ' ', 'a', 'Ω', '7d', ...FIELDS.map((field) => `${field}:`)))
  .map((pieces) => pieces.join(''));

const text = fc.string({ unit: 'binary' }).map((some) => `xyz${some}`);
const yes = fc.option(fc.constant(true as const), { nil: undefined });
const term: fc.Arbitrary<Term> = fc
  .record({ text, prefix: yes })
  .map(({ text, prefix }) => ({ text, ...(prefix && { prefix }) }));
const filter: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    field: fc.constantFrom('not', 'repo', 'branch', 'file', 'tool', 'model', 'person', 'machine', 'commit'),
    value: text,
  }),
  fc.record({
    field: fc.constantFrom('before', 'after'),
    value: fc
      .date({ min: new Date('0000-01-01T00:00Z'), max: new Date('9999-12-31T23:59Z'), noInvalidDate: true })
      .map((date) => date.toISOString()),
  }),
  fc.constantFrom<Filter>(
    { field: 'agent', value: 'Claude Code' },
    { field: 'after', value: '7d' },
    { field: 'failed', value: 'no' },
    { field: 'status', value: 'active' },
  ),
);

test.each([
  ['failed:maybe', 'failed: takes yes or no'],
  ['after:last-week', 'takes a date'],
  ['status:"all of them"', 'status: takes active'],
  ['foo:bar', 'there is no filter foo:'],
  ['not:""', 'not: needs a value'],
])('a query with the mistaken filter %s explains it again after it is formatted and parsed', (mistaken, problem) => {
  const first = parseQuery(`${mistaken} word repo:billing`);
  const again = parseQuery(formatQuery(first));
  expect(again).toEqual(first);
  expect(again.problems).toEqual([expect.stringContaining(problem)]);
});

test.each(['std::string', 'https://example.com', 'queue.ts:12', 'TypeError:x', '"foo:bar"', 'a:b'])(
  '%s is searched as words without a remark about filters',
  (typed) => {
    expect(parseQuery(typed).problems).toEqual([]);
  },
);

test('not: excludes words, phrases and beginnings of words, which count as terms', () => {
  expect(termsOf(parseQuery('slow not:retry not:"gave up" not:time*'))).toEqual([
    { text: 'slow' },
    { text: 'retry', not: true },
    { text: 'gave up', not: true },
    { text: 'time', prefix: true, not: true },
  ]);
  const { filters, problems } = parseQuery(Array.from({ length: 25 }, (_, n) => `not:word${n}`).join(' '));
  expect(filters).toHaveLength(24);
  expect(problems.join()).toContain('at most 24');
});

test('repository: is the long form of repo:', () => {
  expect(parseQuery('repository:acme/shop').filters).toEqual([{ field: 'repo', value: 'acme/shop' }]);
  expect(parseQuery('repository:acme/shop').problems).toEqual([]);
});

test('failed: also accepts true and false, and stores yes and no', () => {
  expect(parseQuery('failed:true failed:FALSE').filters).toEqual([
    { field: 'failed', value: 'yes' },
    { field: 'failed', value: 'no' },
  ]);
});

const zone = (name: string): Calendar => calendarOf(name) ?? UTC;
const dateOf = (day: number | undefined) => day && new Date(day).toISOString().slice(0, 10);

test('before: and after: accept today, yesterday and the latest weekday, each from its midnight on', () => {
  const sunday = Date.parse('2026-11-22T10:00:00Z');
  const days = { today: '22', yesterday: '21', sun: '22', saturday: '21', Mon: '16', tue: '17' };
  for (const [name, day] of Object.entries(days)) {
    expect(timeOf(name, sunday, UTC), name).toBe(Date.parse(`2026-11-${day}T00:00:00Z`));
    expect(dateOf(dayOf(name, sunday, UTC)), name).toBe(`2026-11-${day}`);
  }
  for (const name of ['tod', 'mo', 'someday']) expect(timeOf(name, sunday, UTC), name).toBeUndefined();
});

test.each([
  // It is Sunday evening in Honolulu, and Monday in Auckland and Kolkata.
  ['Pacific/Auckland', 'today', '2026-11-23', '2026-11-22T11:00:00Z'],
  ['Pacific/Auckland', 'sun', '2026-11-22', '2026-11-21T11:00:00Z'],
  ['Asia/Kolkata', 'yesterday', '2026-11-22', '2026-11-21T18:30:00Z'],
  ['Pacific/Honolulu', 'today', '2026-11-22', '2026-11-22T10:00:00Z'],
  ['Pacific/Honolulu', 'mon', '2026-11-16', '2026-11-16T10:00:00Z'],
  ['Pacific/Honolulu', '2026-11-22', '2026-11-22', '2026-11-22T10:00:00Z'],
])('in %s, %s is %s and begins at %s', (name, value, day, start) => {
  const now = Date.parse('2026-11-22T20:00:00Z');
  expect(dateOf(dayOf(value, now, zone(name)))).toBe(day);
  expect(timeOf(value, now, zone(name))).toBe(Date.parse(start));
});

test('the day before a change of the clock is yesterday for the whole day after it', () => {
  const auckland = zone('Pacific/Auckland');
  for (const time of ['2026-09-27T00:30:00+12:00', '2026-09-27T23:30:00+13:00']) {
    expect(dateOf(dayOf('yesterday', Date.parse(time), auckland))).toBe('2026-09-26');
  }
  for (const time of ['2026-04-05T00:30:00+13:00', '2026-04-05T23:30:00+12:00']) {
    expect(dateOf(dayOf('yesterday', Date.parse(time), auckland))).toBe('2026-04-04');
  }
});

test('an age counts back from now, and an exact time is the same in every zone', () => {
  const now = Date.parse('2026-11-22T10:00:00Z');
  const times = {
    '12h': '2026-11-21T22:00:00Z',
    '2w': '2026-11-08T10:00:00Z',
    '2026-11-21T00:00Z': '2026-11-21T00:00:00Z',
    '2026-11-21t14:30:05.5z': '2026-11-21T14:30:05.500Z',
    '2026-11-21T14:30+13:00': '2026-11-21T01:30:00Z',
  };
  for (const [value, time] of Object.entries(times)) {
    for (const calendar of [UTC, zone('Pacific/Auckland')]) {
      expect(timeOf(value, now, calendar), value).toBe(Date.parse(time));
    }
  }
});

test('an agent is found by the beginning of its id or name', () => {
  expect(agentsCalled('claude')).toEqual(['claude-code']);
  expect(agentsCalled('Roo C')).toEqual(['roo-code']);
});
