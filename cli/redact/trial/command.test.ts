import { expect, test } from 'vitest';
import { makeFolder, write } from '../../test/folder.ts';
import { run } from '../../test/program.ts';
import { RULES } from '../rules/all.ts';
import { made } from '../rules/made.ts';
import { listRules } from './list.ts';

const token = `ghp_${made('alnum', 36)}`;
const known = 'mountain-Lake-77';

function setUp(files: { [name: string]: string }) {
  const home = makeFolder();
  for (const [name, text] of Object.entries(files)) write(`${home}/${name}`, text);
  return { home, test: (...args: string[]) => run(['redact', '--test', ...args], { home }) };
}

test('tells what would be masked in a text, and shows no secret', async () => {
  const { test: redact } = setUp({ 'notes.txt': `hello\nGITHUB_TOKEN=${token} \u001b[31mnpm publish\nbye` });
  const { exitCode, stdout, stderr } = await redact('notes.txt');
  expect(stdout).toMatch(
    /^notes\.txt:2:14 {2}github-token\n {4}GITHUB_TOKEN=\[REDACTED:github-token:[0-9a-f]{4}\] npm publish\n1 secret would be masked in 1 file \(rules 1-[0-9a-f]{8}\): github-token 1\.\nA false alarm\? /,
  );
  expect(stdout + stderr).not.toContain(token.slice(0, 12));
  expect(exitCode).toBe(0);
});

test('reads a transcript record by record: with its field names, and with the secrets of its folder', async () => {
  const home = makeFolder();
  write(`${home}/shop/.env`, `DB_PASSWORD=${known}\n`);
  const lines = [
    JSON.stringify({ type: 'a', cwd: `${home}/shop` }),
    'no record',
    JSON.stringify({ n: 1, input: { password: 'correct horse' }, output: [`é "x" ${known} y`] }),
  ];
  write(`${home}/session.jsonl`, `${lines.join('\n')}\n`);
  const { stdout } = await run(['--json', 'redact', '--test', 'session.jsonl'], { home });
  expect(stdout).not.toContain(known);
  const column = (piece: string) => (lines[2]?.indexOf(piece) ?? 0) + 1;
  expect(JSON.parse(stdout)).toMatchObject({
    secrets: 2,
    totals: { 'key-name': 1, 'known-value': 1 },
    files: [
      {
        file: 'session.jsonl',
        findings: [
          { rule: 'key-name', line: 3, column: column('correct'), path: 'input.password' },
          {
            rule: 'known-value',
            line: 3,
            column: column(known),
            path: 'output.0',
            context: expect.stringMatching(/^é/),
          },
        ],
      },
    ],
  });
});

test('shows the secrets when asked to', async () => {
  const { test: redact } = setUp({
    'a.json': JSON.stringify({ [token]: [{ text: `x ${token}, ${token} y` }] }, null, 2),
  });
  const { stdout } = await redact('a.json', '--show');
  expect(stdout.match(new RegExp(`^ {4}"${token}"$`, 'gm'))).toHaveLength(3);
  expect(stdout).toContain('a.json:2:4  github-token\n');
  expect(JSON.parse((await redact('a.json', '--show', '--json')).stdout).files[0].findings[0].secret).toBe(token);
});

test('what a person has allowed is not found, by mark or by rule', async () => {
  const { home, test: redact } = setUp({ 'a.txt': `x ${token}`, 'b.txt': 'nothing' });
  const mark = /\[REDACTED:[^\]]+\]/.exec((await redact('a.txt')).stdout)?.[0];
  for (const entry of [mark, 'github-token']) {
    write(`${home}/state/preferences.json`, JSON.stringify({ redaction: { allow: [entry] } }));
    expect((await redact('a.txt', 'b.txt')).stdout).toMatch(/^Nothing would be masked in 2 files \(/);
  }
});

test('an earlier mark is none of the findings', async () => {
  const { test: redact } = setUp({ 'a.txt': `[REDACTED:npm-token:12ab] ${token} [REDACTED:npm-token:12ab]` });
  expect((await redact('a.txt')).stdout).toMatch(/^a\.txt:1:27 {2}github-token\n.*\n1 secret would be masked/);
});

test('reads what is piped in, and says by its exit code what it found when asked to', async () => {
  const home = makeFolder();
  const pipe = (input: string) => run(['redact', '--test', '-', '--fail'], { home, input });
  expect(await pipe(`\n\nx ${token}`)).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('-:3:3  ') });
  expect(await pipe('nothing')).toMatchObject({ exitCode: 0 });
});

test('says what is wrong with how it was called', async () => {
  const { home, test: redact } = setUp({});
  expect(await redact('nope')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('nope cannot be read') });
  expect(await run(['redact'], { home })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--test FILE'),
  });
});

test('lists every rule with the shape of what it finds, and without an example of it', async () => {
  const { stdout } = await run(['redact', '--list-rules'], { home: makeFolder() });
  expect(stdout).toMatch(/^github-token +source hosts, builds +ghp_…$/m);
  expect(stdout.trim().split('\n')).toHaveLength(RULES.length + 3);
  expect(listRules().filter(({ shape }) => !shape.includes('…') && shape.length < 20)).toEqual([]);
});
