import { expect, test } from 'vitest';
import { redactOne } from '../test/redacting.ts';
import { made } from '../test/redaction/made.ts';
import { createRedactor } from './redactor.ts';

const ROWS = 3000;
const passwords = Array.from({ length: ROWS }, (_, row) => `${made('alnum', 9, row)}#4k`);
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
  expect(passwords.filter((each) => masked.includes(each))).toEqual([]);
});

test('a megabyte of headers with two names of secrets is read in seconds', () => {
  const started = process.cpuUsage();
  redact('secret,password\n'.repeat(60_000));
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 1e6).toBeLessThan(5);
}, 120_000);
