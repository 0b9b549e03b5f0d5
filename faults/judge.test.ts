import { describe, expect, test } from 'vitest';
import type { Line } from './history.ts';
import { EMPTY, judge, judgeEndings, type Rule, type Stored } from './judge.ts';

/** Two appends of two events, the second unanswered at first and sent again, a refused one, and a close. */
const TRUE_LINES: Line[] = [
  { at: 1, send: 'a', session: 's', count: 2 },
  { at: 2, answer: 'a', status: 200, first: 1, last: 2 },
  { at: 3, send: 'b', session: 's', count: 2 },
  { at: 4, unanswered: 'b' },
  { at: 5, send: 'b', session: 's', count: 2 },
  { at: 6, answer: 'b', status: 503, code: 'service_unavailable' },
  { at: 7, send: 'b', session: 's', count: 2 },
  { at: 8, answer: 'b', status: 200, first: 3, last: 4 },
  { at: 9, send: 'a', session: 's', count: 2 },
  { at: 10, answer: 'a', status: 200, first: 1, last: 2 },
  { at: 11, read: 's', count: 3, text: 'b/0' },
  { at: 12, closed: 's' },
  { at: 13, send: 'c', session: 's', count: 1 },
  { at: 14, answer: 'c', status: 409, code: 'session_closed' },
];
const TRUE_TEXTS = ['a/0', 'a/1', 'b/0', 'b/1'];

const storedOf = (texts: readonly string[], eventCount = texts.length): Stored => ({
  eventCount,
  events: texts.map((text, index) => ({ sequence: index + 1, text })),
});
const rulesOf = (lines: readonly Line[], stored: Stored) => [
  ...new Set(judge(lines, new Map([['s', stored]])).faults.map(({ rule }) => rule)),
];
/** The history with the line at that time said otherwise. */
const instead = (at: number, line: object): Line[] =>
  TRUE_LINES.map((one) => (one.at === at ? ({ at, ...line } as Line) : one));

describe('the oracle', () => {
  test('finds no fault in a true history, and counts what was in it', () => {
    const verdict = judge(TRUE_LINES, new Map([['s', storedOf(TRUE_TEXTS)]]));
    expect(verdict).toEqual({
      ...EMPTY,
      appends: 2,
      events: 4,
      requests: 6,
      unanswered: 1,
      unavailable: 1,
      replays: 1,
    });
  });

  test('takes an append that nobody answered as it is, whole or absent', () => {
    const lines = TRUE_LINES.filter(({ at }) => at < 5);
    expect(rulesOf(lines, storedOf(TRUE_TEXTS))).toEqual([]);
    expect(rulesOf(lines, storedOf(['a/0', 'a/1']))).toEqual([]);
  });

  test('takes what is deleted as gone, and finds what is left of it or taken afterwards', () => {
    const lines: Line[] = [...TRUE_LINES.slice(0, 11), { at: 12, deleting: 's' }, { at: 13, deleted: 's' }];
    expect(rulesOf(lines, storedOf([]))).toEqual([]);
    expect(rulesOf(lines, storedOf([], 2))).toEqual(['kept']);
    const late: Line[] = [
      { at: 14, send: 'c', session: 's', count: 1 },
      { at: 15, answer: 'c', status: 200, first: 5, last: 5 },
    ];
    expect(rulesOf([...lines, ...late], storedOf([]))).toEqual(['late']);
  });

  test.each<[Rule[], string, Line[], Stored]>([
    [['lost', 'unseen'], 'an acknowledged append is gone', TRUE_LINES, storedOf(['a/0', 'a/1'])],
    [['lost'], 'one event of it is gone', TRUE_LINES.slice(0, 8), storedOf(['a/0', 'a/1', 'b/0'])],
    [['moved', 'unseen'], 'two appends changed places', TRUE_LINES, storedOf(['b/0', 'b/1', 'a/0', 'a/1'])],
    [['doubled'], 'an event is there twice', TRUE_LINES, storedOf([...TRUE_TEXTS, 'b/1'])],
    [['gap'], 'the count is not that of the events', TRUE_LINES, storedOf(TRUE_TEXTS, 5)],
    [
      ['gap', 'moved'],
      'a number is left out',
      TRUE_LINES.slice(0, 2),
      { eventCount: 2, events: [1, 3].map((sequence, index) => ({ sequence, text: `a/${index}` })) },
    ],
    [['torn'], 'half of an unanswered append is there', TRUE_LINES.slice(0, 4), storedOf(['a/0', 'a/1', 'b/0'])],
    [['torn'], 'a refused append is there', TRUE_LINES, storedOf([...TRUE_TEXTS, 'c/0'])],
    [['foreign'], 'an event is there that nobody sent', TRUE_LINES, storedOf([...TRUE_TEXTS, 'z/0'])],
    [
      ['changed'],
      'a repeated append has other numbers',
      instead(10, { answer: 'a', status: 200, first: 3, last: 4 }),
      storedOf(TRUE_TEXTS),
    ],
    [
      ['changed'],
      'a repeated append has another status',
      instead(10, { answer: 'a', status: 202, first: 1, last: 2 }),
      storedOf(TRUE_TEXTS),
    ],
    [
      ['changed'],
      'a repeated append is refused',
      instead(10, { answer: 'a', status: 409, code: 'session_closed' }),
      storedOf(TRUE_TEXTS),
    ],
    [
      ['late'],
      'an append is taken after the close',
      instead(14, { answer: 'c', status: 200, first: 5, last: 5 }),
      storedOf([...TRUE_TEXTS, 'c/0']),
    ],
    [
      ['unseen'],
      'a reader saw what is no longer there',
      instead(11, { read: 's', count: 3, text: 'x/0' }),
      storedOf(TRUE_TEXTS),
    ],
    [
      ['unseen'],
      'a reader sees less than before',
      [...TRUE_LINES, { at: 15, read: 's', count: 1, text: 'a/0' }],
      storedOf(TRUE_TEXTS),
    ],
    [
      ['status'],
      'an answer is not documented',
      instead(6, { answer: 'b', status: 500, code: 'internal' }),
      storedOf(TRUE_TEXTS),
    ],
    [
      ['disordered'],
      'an append is in front of one that was acknowledged before it was sent',
      [
        { at: 1, send: 'a', session: 's', count: 1 },
        { at: 2, answer: 'a', status: 200, first: 2, last: 2 },
        { at: 3, send: 'b', session: 's', count: 1 },
        { at: 4, answer: 'b', status: 200, first: 1, last: 1 },
      ],
      storedOf(['b/0', 'a/0']),
    ],
  ])('finds %j where %s', (rules, _, lines, stored) => {
    expect(rulesOf(lines, stored)).toEqual(rules);
  });

  test('finds a session that nobody opened', () => {
    expect(judge([], new Map([['t', storedOf(['x/0'])]])).faults).toEqual([{ rule: 'foreign', what: 't' }]);
  });

  test('takes an old session for expired if nothing came to it, and for kept if something did', () => {
    const old: Line[] = [
      { at: 1, send: 'a', session: 's', count: 1 },
      { at: 2, answer: 'a', status: 200, first: 1, last: 1 },
      { at: 3, aged: 's' },
      { at: 4, send: 'b', session: 's', count: 1 },
    ];
    const refused: Line[] = [...old, { at: 5, answer: 'b', status: 404, code: 'session_deleted' }];
    const taken: Line[] = [...old, { at: 5, answer: 'b', status: 200, first: 2, last: 2 }];
    const gone: Stored = { eventCount: 0, events: [], isGone: true };
    expect(rulesOf(refused, gone)).toEqual([]);
    expect(rulesOf(taken, storedOf(['a/0', 'b/0']))).toEqual([]);
    expect(rulesOf(taken, gone)).toEqual(['lost']);
    expect(rulesOf(refused, storedOf([]))).toEqual(['lost', 'unexpired']);
    expect(rulesOf(refused, { ...gone, eventCount: 3 })).toEqual(['kept']);
    expect(rulesOf(refused, storedOf(['a/0']))).toEqual(['unexpired']);
    expect(rulesOf(old.slice(0, 3), storedOf(['a/0']))).toEqual(['unexpired']);
  });

  test('counts what was deleted and what has expired, and finds fault with rounds in which nothing was', () => {
    const lines: Line[] = [
      { at: 1, aged: 's' },
      { at: 2, deleting: 't' },
    ];
    const gone: Stored = { eventCount: 0, events: [], isGone: true };
    const verdict = judge(
      lines,
      new Map([
        ['s', gone],
        ['t', gone],
      ]),
    );
    expect(verdict).toEqual({ ...EMPTY, deleted: 1, expired: 1 });
    expect(judgeEndings(verdict, 3)).toEqual(verdict);
    expect(judgeEndings(EMPTY, 2).faults).toEqual([]);
    expect(judgeEndings(EMPTY, 3).faults.map(({ rule }) => rule)).toEqual(['kept', 'unexpired']);
  });
});
