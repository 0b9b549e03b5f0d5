import { expect, test } from 'vitest';
import { made } from '../../redact/test/made.ts';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';

const token = `ghp_${made('alnum', 36)}`;
const known = 'mountain-Lake-77';

function setUp(files: { [name: string]: string }) {
  const home = makeFolder();
  for (const [name, text] of Object.entries(files)) write(`${home}/${name}`, text);
  return { home, test: (...args: string[]) => run(['redact', '--test', ...args], { home }) };
}

test('a text is shown as it would be captured, with the number of masked secrets per rule', async () => {
  const { test: redact } = setUp({ 'notes.txt': `hello\nGITHUB_TOKEN=${token} \u001b[31mnpm publish\nbye\n` });
  const { exitCode, stdout, stderr } = await redact('notes.txt');
  expect(stdout).toMatch(/^hello\nGITHUB_TOKEN=\[REDACTED:github-token:[0-9a-f]{4}\] npm publish\nbye\n$/);
  expect(stderr).toMatch(/^1 secret masked: github-token 1\.\nA false alarm\? /);
  expect(exitCode).toBe(0);
});

test('a transcript is read record by record, with its field names and the secrets of its folder', async () => {
  const home = makeFolder();
  write(`${home}/shop/.env`, `DB_PASSWORD=${known}\n`);
  const lines = [
    JSON.stringify({ type: 'a', cwd: `${home}/shop` }),
    'no record',
    `{ "n": 1.0, "input": {"password": "correct horse"}, "output": ["é ${known} y"] }`,
  ];
  write(`${home}/session.jsonl`, `${lines.join('\n')}\n`);
  const { stdout } = await run(['--json', 'redact', '--test', 'session.jsonl'], { home });
  const { totals, text } = JSON.parse(stdout);
  expect(totals).toEqual({ 'key-name': 1, 'known-value': 1 });
  expect(text.split('\n').slice(0, 2)).toEqual(lines.slice(0, 2));
  expect(text.split('\n')[2]).toMatch(
    /^\{ "n": 1\.0, "input": \{"password": "\[REDACTED:key-name:....\]"\}, "output": \["é \[REDACTED:known-value:....\] y"\] \}$/,
  );
});

test('a long text and a long transcript are masked line by line, without other changes', async () => {
  const line = `${'x'.repeat(99)}\n`;
  const filler = line.repeat(60_000);
  const record = `${JSON.stringify({ type: 'a', text: 'y'.repeat(900) })}\n`.repeat(6000);
  const { test: redact } = setUp({
    'long.txt': `${filler}TOKEN=${token}\n${filler}\n\n${token}`,
    'long.jsonl': `${record}${JSON.stringify({ text: token })}\n${record}`,
  });
  const mark = /\[REDACTED:github-token:[0-9a-f]{4}\]/;
  const long = await redact('long.txt');
  expect(long.stdout.replaceAll(new RegExp(mark, 'g'), 'MARK')).toBe(`${filler}TOKEN=MARK\n${filler}\n\nMARK\n`);
  const records = await redact('long.jsonl');
  expect(records.stdout.replace(mark, 'MARK')).toBe(`${record}{"text":"MARK"}\n${record}`);
});

test('an allowed secret is let through, by mark or by rule', async () => {
  const { home, test: redact } = setUp({ 'a.txt': `x ${token}` });
  const mark = /\[REDACTED:[^\]]+\]/.exec((await redact('a.txt')).stdout)?.[0];
  for (const entry of [mark, 'github-token']) {
    write(`${home}/state/preferences.json`, JSON.stringify({ redaction: { allow: [entry] } }));
    expect(await redact('a.txt')).toMatchObject({ stdout: `x ${token}\n`, stderr: '0 secrets masked.\n' });
  }
});

test('an earlier mark is not counted', async () => {
  const { test: redact } = setUp({ 'a.txt': `[REDACTED:npm-token:12ab] ${token} [REDACTED:npm-token:12ab]` });
  expect((await redact('a.txt')).stderr).toMatch(/^1 secret masked/);
});

test('piped input is read, and with --fail the exit code reports secrets', async () => {
  const home = makeFolder();
  const pipe = (input: string) => run(['redact', '--test', '-', '--fail'], { home, input });
  expect(await pipe(`\n\nx ${token}`)).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('x [REDACTED:') });
  expect(await pipe('nothing')).toMatchObject({ exitCode: 0 });
});

test('a wrong call is explained', async () => {
  const { home, test: redact } = setUp({});
  expect(await redact('nope')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('nope cannot be read') });
  expect(await run(['redact'], { home })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--test FILE'),
  });
});

test('a file without --test is refused with the line that works', async () => {
  const { exitCode, stderr } = await run(['redact', 'notes.txt'], { home: makeFolder() });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('hint: The file belongs behind an option: `capture redact --test <file>`.');
});
