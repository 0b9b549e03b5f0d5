import { describe, expect, test } from 'vitest';
import type { CapturedEvent } from '../../contract/transcript.ts';
import { redactOne } from '../test/redacting.ts';
import { createBudget, OverBudget } from './budget.ts';
import { createEventRedactor } from './event.ts';
import { createKnownFinder } from './known/finder.ts';
import { createRedactor } from './redactor.ts';
import { RULES } from './rules/all.ts';
import { made } from './rules/made.ts';

/**
 * Nobody's text may stall capture. Time is not measured here, since it says as much about the machine: steps are
 * counted, and a step is bounded work (`rules/bounded.test.ts`). `bench/redact.ts --growth` measures.
 */
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };
const record = (rest: unknown): CapturedEvent => ({ eventType: 'record', payload: { source, rest } });

function countSteps(rest: unknown, secrets: string[] = []): number {
  const budget = createBudget(() => 0);
  const finder = createKnownFinder(secrets);
  createEventRedactor({ known: () => finder, key: new Uint8Array(32), allow: [], budget }).redactEvent(record(rest));
  return budget.steps();
}

/** Generous: nothing is measured, but a machine may be busy. */
const PATIENCE_MS = 120_000;

/** A letter may end three keywords: `aaaa`. */
const STEPS_A_LETTER = 2.2;

const fill = (piece: string, letters: number) => piece.repeat(Math.ceil(letters / piece.length));

/** What looks like a secret until its very end. */
const NEAR_MISSES = RULES.flatMap(({ id, keywords, examples }) => [
  ...keywords.map((keyword) => [id, keyword] as const),
  ...examples.hit.flatMap((hit) => [
    [id, hit.slice(0, -1)] as const,
    [id, `${hit.slice(0, hit.length / 2)} `] as const,
  ]),
]);

describe('near misses', () => {
  test(
    'cost at most so many steps a letter, whatever the rule and the length',
    () => {
      for (const letters of [1024, 4096]) {
        const costly = NEAR_MISSES.filter(([, piece]) => countSteps(fill(piece, letters)) > STEPS_A_LETTER * letters);
        expect(costly.map(([id, piece]) => `${id}: ${piece.slice(0, 30)}`)).toEqual([]);
      }
    },
    PATIENCE_MS,
  );

  test('a known value that nearly is one does, too', () => {
    const secret = made('alnum', 400);
    const [small, large] = [50, 100].map((times) => countSteps(fill(secret.slice(0, -1), times * 400), [secret]));
    expect((large as number) / (small as number)).toBeLessThan(2.6);
  });
});

const deepJson = (depth: number) => `${'{"a":['.repeat(depth)}"x"${']}'.repeat(depth)}`;
const deepText = (depth: number) =>
  Array.from({ length: depth }).reduce<string>((text) => JSON.stringify([text]), 'password');

/** One megabyte of each, unless it grows on its own. */
const HOSTILE: { [name: string]: unknown } = {
  quotes: '"'.repeat(1e6),
  'single quotes': fill("password='", 1e6),
  'escaped quotes': fill('\\"', 1e6),
  backslashes: `password="${'\\'.repeat(1e6)}`,
  'open brackets': '['.repeat(1e6),
  'JSON, deep': deepJson(100_000),
  'JSON in JSON in JSON …': deepText(15),
  'numbers in JSON text': `[${fill('1,', 1e6)}1]`,
  'many small strings': Array.from({ length: 60_000 }, (_, index) => `token ${index}`),
  'many keys': Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`password${index}`, `${index}`])),
  base64: made('base64', 1e6),
  'one line of hex': made('hex', 1e6),
  'one word': 'a'.repeat(1e6),
  'letters of many alphabets': fill('пароль=密碼🔑é\u0301\u202e\u0000 secret=', 1e6),
  'half a character each': fill('\ud83d', 1e6),
  blanks: `password:${' '.repeat(1e6)}`,
  'marks, nearly': fill('[REDACTED:key-name:12a', 1e6),
  marks: fill('[REDACTED:key-name:12ab]', 1e6),
  assignments: fill('password=', 1e6),
  'a private key without an end': `-----BEGIN PRIVATE KEY-----\n${made('base64', 1e6)}`,
  'ends of private keys': fill('aaaa-----END PRIVATE KEY-----', 1e6),
};

test.each(Object.entries(HOSTILE))(
  '%s: read to the end, in steps of bounded number',
  (_name, rest) => {
    const letters = typeof rest === 'string' ? rest.length : JSON.stringify(rest).length;
    const steps = countSteps(rest, [made('alnum', 40)]);
    expect(steps).toBeLessThan(10_000 + 2 * letters);
    // And there are enough of them to be stopped at.
    expect(steps).toBeGreaterThan(letters / 4096);
  },
  PATIENCE_MS,
);

test(
  'what uses up its time is stopped within some steps, and is withheld',
  () => {
    const late = { redact: () => ({ kind: 'late' as const }) };
    for (const [name, rest] of Object.entries(HOSTILE)) {
      let time = 0;
      const elapsed = () => time++;
      const redactor = createRedactor({ variables: {}, home: '/nowhere', aside: late, elapsed, patienceMs: 3 });
      const { payload } = redactOne(redactor, record(rest));
      const isWithheld = payload.redactions?.withheld === 1;
      // Asked the clock but a few times: the rest of the record was not looked at.
      expect(isWithheld ? time : 0, name).toBeLessThan(20);
      if (!isWithheld) expect(time, name).toBeLessThan(8);
    }
  },
  PATIENCE_MS,
);

test('a number in JSON text, and a keyword, is a step each', () => {
  expect(countSteps(`[${fill('1,', 10_000)}1]`)).toBeGreaterThan(5000);
  expect(countSteps(fill('token ', 6000))).toBeGreaterThan(999);
});

test('the clock is asked at every few steps', () => {
  let time = 0;
  const budget = createBudget(() => time);
  budget.start(10);
  time = 11;
  expect(() => Array.from({ length: 16 }, budget.step)).toThrow(OverBudget);
  budget.start(10);
  expect(() => Array.from({ length: 160 }, budget.step)).not.toThrow();
});
