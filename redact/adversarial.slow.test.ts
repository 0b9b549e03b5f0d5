import { describe, expect, test } from 'vitest';
import { createMachineRedactor } from '../cli/test/redacting.ts';
import type { CapturedEvent } from '../transcript/vocabulary.ts';
import { createRedactor } from './redactor.ts';
import { RULES } from './rules/all.ts';
import { made } from './test/made.ts';
import { RULE_EXAMPLES } from './test/rule-examples.ts';

/**
 * No text may stall capture. The tests do not measure time, because that depends on the machine. They count how often a
 * pattern is tried, and each try is bounded work (`rules/bounded.test.ts`). `bench/redact.ts --growth` measures time.
 */
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };
const record = (rest: unknown): CapturedEvent => ({ eventType: 'record', payload: { source, rest } });

const create = (secrets: string[]) =>
  createMachineRedactor({ variables: {}, home: '/nowhere', key: new Uint8Array(32), secrets });
const withoutSecrets = create([]);
let sessions = 0;

const countTries = (rest: unknown, secrets: string[] = []): number => countWork(rest, secrets).tries;

/** How often patterns are tried, and how many letters they match in total. */
function countWork(rest: unknown, secrets: string[]): { tries: number; letters: number } {
  const redactor = secrets.length === 0 ? withoutSecrets : create(secrets);
  const { exec } = RegExp.prototype;
  let [tries, letters] = [0, 0];
  // `test`, `replace` and `matchAll` use it, too.
  RegExp.prototype.exec = function (text) {
    tries++;
    const found = exec.call(this, text);
    letters += found?.[0].length ?? 0;
    return found;
  };
  try {
    // Each call has its own session, because a value found in one session is searched for in it again.
    const [masked] = redactor.redact([record(rest)], { session: `s ${++sessions}` });
    expect(masked?.eventType).toBe('record');
  } finally {
    RegExp.prototype.exec = exec;
  }
  return { tries, letters };
}

/** Generous: nothing is measured, but a machine may be busy. */
const PATIENCE_MS = 120_000;

const fill = (piece: string, letters: number) => piece.repeat(Math.ceil(letters / piece.length));

/** The most tries per letter of a text that consists only of what the patterns search for. */
const TRIES_A_LETTER = 24;

/** Texts that look like a secret until their very end. */
const NEAR_MISSES = RULES.flatMap(({ id, keywords }) => [
  ...keywords.map((keyword) => [id, keyword] as const),
  ...(RULE_EXAMPLES[id]?.hit ?? []).flatMap((hit) => [
    [id, hit.slice(0, -1)] as const,
    [id, `${hit.slice(0, hit.length / 2)} `] as const,
  ]),
]);

describe('near misses', () => {
  test(
    'cost in line with their length, whatever the rule',
    () => {
      for (const [id, piece] of NEAR_MISSES) {
        const [half = 0, full = 0] = [1024, 2048].map((letters) => countTries(fill(piece, letters)));
        expect(full, `${id}: ${piece.slice(0, 30)}`).toBeLessThan(2.5 * half + 200);
        expect(full, `${id}: ${piece.slice(0, 30)}`).toBeLessThan(TRIES_A_LETTER * 2048);
      }
    },
    PATIENCE_MS,
  );

  test('a nearly matching known value costs in line with its length, too', () => {
    const secret = made('alnum', 400);
    const [small = 0, large = 0] = [50, 100].map((times) =>
      countTries(fill(secret.slice(0, -1), times * 400), [secret]),
    );
    expect(large).toBeLessThan(2.5 * small + 200);
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
  'values without an end': fill(`token="k7${made('base64', 7000)}`, 1e6),
  'a value without an end': `API_TOKEN=${made('base64', 1e6)}`,
  'bearers without an end': fill(`Bearer k7${made('base64', 7000)} `, 1e6),
  'a cookie without an end': `Cookie: sid=${fill('sess7auth', 1e6)}`,
  'names in other alphabets': fill('密码пароль：', 1e6),
  'headers of tables': fill('user|password\n', 1e6),
  'a word for a word': fill('password is hunter or ', 1e6),
  'a private key without an end': `-----BEGIN PRIVATE KEY-----\n${made('base64', 1e6)}`,
  'ends of private keys': fill('aaaa-----END PRIVATE KEY-----', 1e6),
};

test.each(Object.entries(HOSTILE))(
  '%s: read to the end, with so many tries a letter',
  (_name, rest) => {
    const letters = typeof rest === 'string' ? rest.length : JSON.stringify(rest).length;
    expect(countTries(rest, [made('alnum', 40)])).toBeLessThan(TRIES_A_LETTER * letters);
  },
  PATIENCE_MS,
);

/** A value that begins at each name and reaches to the end is read only as far as its classification needs. */
test.each(['密码пароль：', 'รหัสผ่าน:', 'пароль:', 'password:x1', 'a.password is b.'])(
  'names without blanks (%s): no more than so many letters are read for each of them',
  (piece) => {
    const text = fill(piece, 1e5);
    const names = (text.length / piece.length) * (piece.startsWith('密') ? 2 : 1);
    expect(countWork(text, []).letters / names).toBeLessThan(400);
  },
);

test('endless secrets are learned up to a limit, and none is shown', () => {
  const tokens = Array.from({ length: 3000 }, (_, index) => `ghp_${made('alnum', 36, index)}`);
  const redactor = createRedactor();
  for (let from = 0; from < tokens.length; from += 300) {
    const [masked] = redactor.redact([record(tokens.slice(from, from + 300))], { session: 's' });
    expect(masked?.payload.redactions).toEqual({ 'github-token': 300 });
  }
  for (const session of tokens) redactor.redact([record(session)], { session });
  const [masked] = redactor.redact([record(tokens.at(-1))], { session: 's' });
  expect(masked?.payload.redactions).toEqual({ 'github-token': 1 });
});

test('a text of many megabytes is masked piece by piece, without other changes', () => {
  const token = `ghp_${made('alnum', 36)}`;
  const line = `${'x'.repeat(99)}\n`;
  const text = `${token}\n${line.repeat(60_000)}${token}\n${line.repeat(30_000)}${token}`;
  const redactor = createRedactor();
  const [masked] = redactor.redact([record(text)], { session: 's' });
  const mark = /\[[^\]]+\]/.exec(JSON.stringify(masked?.payload))?.[0] ?? '';
  expect(masked?.payload).toMatchObject({ rest: text.replaceAll(token, mark), redactions: { 'github-token': 3 } });
});

/** Signs between the lines of a key, and signs with several readings between adjacent strings. */
const SIGNS = ['\\', '\\n', '\\t', '\\u001b[0m', '\\\\e[1m', '\u001b[m', '\n', ' ', '-', '.', ':', '#', '→', '1', '_'];
const NUMBERS = ['1 ', '1-', '-1', '-1-', '1:', '1-.1-', '1-1:', 'a-1-', '\\n.-1-', '.-1-,', 'a:1:\n'];
const LINE_OF_KEY = made('base64', 64);
/** Surroundings of a run of signs. The run ends with none of them. */
const AROUND: readonly (readonly [around: string, signs: readonly string[], write: (run: string) => string])[] = [
  ['a key', [...SIGNS, ...NUMBERS], (run) => `-----BEGIN PRIVATE KEY-----\n${LINE_OF_KEY}\n${run}!\n`],
  ['the end of a key', [...SIGNS, ...NUMBERS], (run) => `!${run}\n${LINE_OF_KEY}-----END PRIVATE KEY-----\n`],
  ['inserted rows', ["'", "''", '"', '\\', "'\\'"], (run) => `INSERT INTO users (name, password) VALUES (${run}\n`],
];
/** The limit for ten such texts: a run that is read in all ways takes minutes. */
const MAX_SECONDS = 1;
/** The steps are small, so that the first run that is too long takes only seconds. */
const RUNS = [...Array.from({ length: 27 }, (_, index) => 12 + 2 * index), 80, 120, 180, 300];

test.each(
  AROUND.flatMap(([around, signs, write]) => signs.map((sign) => [JSON.stringify(sign), around, sign, write] as const)),
)(
  'a run of %s in %s is read in one way',
  (_name, _around, sign, write) => {
    for (const letters of RUNS) {
      const text = write(fill(sign, letters)).repeat(10);
      const started = process.cpuUsage();
      withoutSecrets.redact([record(text)], { session: `s ${++sessions}` });
      const { user, system } = process.cpuUsage(started);
      expect((user + system) / 1e6, `${letters} letters`).toBeLessThan(MAX_SECONDS);
    }
  },
  PATIENCE_MS,
);
