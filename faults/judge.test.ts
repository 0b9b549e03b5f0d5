import { describe, expect, test } from 'vitest';
import type { Line } from './history.ts';
import { EMPTY, judge, judgeEndings, type Rule, type Stored } from './judge.ts';

/** Two appends of two events, the second of them repeated because its first request got no answer; a close; a refused append. */
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
/** The history with the line at that time replaced. */
const instead = (at: number, line: object): Line[] =>
  TRUE_LINES.map((one) => (one.at === at ? ({ at, ...line } as Line) : one));

describe('the oracle', () => {
  test('finds no fault in a true history, and counts its appends, events and requests', () => {
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

  test('accepts an unanswered append whether it is stored whole or absent', () => {
    const lines = TRUE_LINES.filter(({ at }) => at < 5);
    expect(rulesOf(lines, storedOf(TRUE_TEXTS))).toEqual([]);
    expect(rulesOf(lines, storedOf(['a/0', 'a/1']))).toEqual([]);
  });

  test('takes an answer after a cut of the power for none, and reports the loss of every other one', () => {
    const cut = (fault: string): Line[] => [
      ...TRUE_LINES.slice(0, 3),
      { at: 3.1, fault },
      { at: 3.2, answer: 'b', status: 200, first: 3, last: 4 },
      { at: 3.3, read: 's', count: 4, text: 'b/1' },
      { at: 3.4, mended: fault },
    ];
    const short = storedOf(['a/0', 'a/1']);
    expect(rulesOf(cut('power of the service cut'), short)).toEqual([]);
    expect(rulesOf(cut('disk of the service slow'), short)).toEqual(['lost', 'unseen']);
    const later: Line[] = [
      ...cut('power of the service cut'),
      { at: 4, send: 'b', session: 's', count: 2 },
      { at: 5, answer: 'b', status: 200, first: 3, last: 4 },
    ];
    expect(rulesOf(later, short)).toEqual(['lost']);
  });

  test('expects a deleted session to be gone, and reports rows that remain and appends accepted afterwards', () => {
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
    [['lost'], 'one event of an acknowledged append is gone', TRUE_LINES.slice(0, 8), storedOf(['a/0', 'a/1', 'b/0'])],
    [['moved', 'unseen'], 'two appends changed places', TRUE_LINES, storedOf(['b/0', 'b/1', 'a/0', 'a/1'])],
    [['doubled'], 'an event is stored twice', TRUE_LINES, storedOf([...TRUE_TEXTS, 'b/1'])],
    [['gap'], "the session's count differs from the number of its events", TRUE_LINES, storedOf(TRUE_TEXTS, 5)],
    [
      ['gap', 'moved'],
      'a sequence number is missing',
      TRUE_LINES.slice(0, 2),
      { eventCount: 2, events: [1, 3].map((sequence, index) => ({ sequence, text: `a/${index}` })) },
    ],
    [['torn'], 'half of an unanswered append is stored', TRUE_LINES.slice(0, 4), storedOf(['a/0', 'a/1', 'b/0'])],
    [['torn'], 'a refused append is stored', TRUE_LINES, storedOf([...TRUE_TEXTS, 'c/0'])],
    [['foreign'], 'an event that no client sent is stored', TRUE_LINES, storedOf([...TRUE_TEXTS, 'z/0'])],
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
      'an append is accepted after the close',
      instead(14, { answer: 'c', status: 200, first: 5, last: 5 }),
      storedOf([...TRUE_TEXTS, 'c/0']),
    ],
    [
      ['unseen'],
      'a reader saw an event that is gone later',
      instead(11, { read: 's', count: 3, text: 'x/0' }),
      storedOf(TRUE_TEXTS),
    ],
    [
      ['unseen'],
      'a reader sees fewer events than before',
      [...TRUE_LINES, { at: 15, read: 's', count: 1, text: 'a/0' }],
      storedOf(TRUE_TEXTS),
    ],
    [
      ['status'],
      'the service answers with an undocumented status',
      instead(6, { answer: 'b', status: 500, code: 'internal' }),
      storedOf(TRUE_TEXTS),
    ],
    [
      ['disordered'],
      'an append precedes one that was acknowledged before it was sent',
      [
        { at: 1, send: 'a', session: 's', count: 1 },
        { at: 2, answer: 'a', status: 200, first: 2, last: 2 },
        { at: 3, send: 'b', session: 's', count: 1 },
        { at: 4, answer: 'b', status: 200, first: 1, last: 1 },
      ],
      storedOf(['b/0', 'a/0']),
    ],
  ])('reports %j if %s', (rules, _, lines, stored) => {
    expect(rulesOf(lines, stored)).toEqual(rules);
  });

  test('reports a session that no client opened', () => {
    expect(judge([], new Map([['t', storedOf(['x/0'])]])).faults).toEqual([{ rule: 'foreign', what: 't' }]);
  });

  test('expects an old session to expire without an append, and to be kept with one', () => {
    const old: Line[] = [
      { at: 1, send: 'a', session: 's', count: 1 },
      { at: 2, answer: 'a', status: 200, first: 1, last: 1 },
      { at: 3, aged: 's' },
      { at: 4, send: 'b', session: 's', count: 1 },
    ];
    const refused: Line[] = [...old, { at: 5, answer: 'b', status: 404, code: 'session_deleted' }];
    const answered: Line = { at: 5, answer: 'b', status: 200, first: 2, last: 2 };
    const taken: Line[] = [...old, answered];
    const gone: Stored = { eventCount: 0, events: [], isGone: true };
    expect(rulesOf(refused, gone)).toEqual([]);
    expect(rulesOf(taken, storedOf(['a/0', 'b/0']))).toEqual([]);
    expect(rulesOf(taken, gone)).toEqual(['lost']);
    expect(rulesOf(refused, storedOf([]))).toEqual(['lost', 'unexpired']);
    expect(rulesOf(refused, { ...gone, eventCount: 3 })).toEqual(['kept']);
    expect(rulesOf(refused, storedOf(['a/0']))).toEqual(['unexpired']);
    expect(rulesOf(old.slice(0, 3), storedOf(['a/0']))).toEqual(['unexpired']);
    const dark: Line[] = [...old, { at: 5, fault: 'power of PostgreSQL cut' }, { ...answered, at: 6 }];
    expect(rulesOf(dark, storedOf(['a/0', 'b/0']))).toEqual([]);
    expect(rulesOf(dark, storedOf(['a/0']))).toEqual(['unexpired']);
  });

  test('counts deleted and expired sessions, and reports rounds without any of them', () => {
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
