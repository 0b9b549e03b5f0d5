import { expect, test } from 'vitest';
import { redactOne } from '../cli/test/redacting.ts';
import { createRedactor } from './redactor.ts';
import { made } from './test/made.ts';

const ROWS = 3000;
const passwords = Array.from({ length: ROWS }, (_, row) => `${made('alnum', 9, row)}#4k`);
const findPasswords = (text: string) => Array.from(text.matchAll(/[A-Za-z0-9]{9}#4k/g), ([password]) => password);
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };

function redact(output: string): string {
  const event = { eventType: 'tool.result' as const, payload: { source, output } };
  return JSON.stringify(redactOne(createRedactor(), event, { session: 's' }).payload);
}

test.each([
  ['CSV', `name,password\n${passwords.map((each, row) => `robin${row},${each}`).join('\n')}\n`],
  [
    'a table of Markdown',
    `| name | password |\n|---|---|\n${passwords.map((each) => `| robin | ${each} |`).join('\n')}\n`,
  ],
  [
    'an INSERT',
    `INSERT INTO users (name, password) VALUES ${passwords.map((each) => `('robin', '${each}')`).join(',\n')};`,
  ],
])('all passwords of 3,000 rows of %s are masked', (_form, text) => {
  const masked = redact(text);
  expect(findPasswords(masked)).toEqual([]);
});

const PIECE = 1024 * 1024;

test.each([
  ['CSV', 'name,password\n', (row: string, each: string) => `${row},${each}\n`],
  ['a table of Markdown', '| name | password |\n|---|---|\n', (row: string, each: string) => `| ${row} | ${each} |\n`],
  [
    'an INSERT',
    'INSERT INTO users (name, password) VALUES\n',
    (row: string, each: string) => `('${row}', '${each}'),\n`,
  ],
])('the rows of %s that is cut into pieces are masked', (_form, header, write) => {
  const name = 'robin'.repeat(100);
  const text = header + Array.from({ length: 5000 }, (_, row) => write(name, passwords[row % ROWS] ?? '')).join('');
  expect(text.length).toBeGreaterThan(2 * PIECE);
  const masked = redact(text);
  expect(findPasswords(masked)).toEqual([]);
});

test('the columns of a wide header are all found', () => {
  const names = Array.from({ length: 60 }, (_, column) => `server_${column}_password`);
  const masked = redact(`${names.join(',')}\n${passwords.slice(0, 60).join(',')}\n`);
  expect(findPasswords(masked)).toEqual([]);
});

const countTests = (run: () => void) => {
  const { exec } = RegExp.prototype;
  let tests = 0;
  RegExp.prototype.exec = function (text) {
    tests++;
    return exec.call(this, text);
  };
  try {
    run();
  } finally {
    RegExp.prototype.exec = exec;
  }
  return tests;
};

/** Reading the table again for each of its columns would take fifty times as many reads. */
test.each([
  ['headers', (columns: string[]) => `${columns.join(',')}\n`.repeat(300)],
  ['rows', (columns: string[]) => `${columns.join(',')}\n${`${'abc,'.repeat(columns.length - 1)}abc\n`.repeat(3000)}`],
])('%s of fifty secret columns are read once', (_what, write) => {
  const text = write(Array.from({ length: 50 }, (_, column) => `password${column}`));
  expect(countTests(() => redact(text))).toBeLessThan(2 * text.length);
});
