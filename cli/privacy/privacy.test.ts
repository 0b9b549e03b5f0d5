import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { makeFolder, write } from '../test/folder.ts';
import { openTestPolicy } from '../test/policy.ts';
import { run } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { FOLDER_FILE } from './folder.ts';
import { comparable, findRuleProblem, toPlainRemote, toRule } from './rules.ts';

const HOME = '/home/ada';

const isMeant = (text: string, folder: string, remote?: string, platform = 'linux') =>
  toRule(text, { home: HOME, platform }).matches({ paths: [folder], remotes: remote === undefined ? [] : [remote] });

test.each([
  ['/srv/secret', '/srv/secret', true],
  ['/srv/secret', '/srv/secret/deep/er', true],
  ['/srv/secret/', '/srv/secret', true],
  ['/srv/secret', '/srv/secrets', false],
  ['/srv/secret', '/srv', false],
  ['~', '/home/ada/x', true],
  ['~/private/*', '/home/ada/private/a/b', true],
  ['~/private/*', '/home/ada/private', false],
  ['~adam', '/home/ada', false],
])('the path %s covers %s: %s', (text, folder, expected) => {
  expect(isMeant(text, folder)).toBe(expected);
});

const SPELLINGS = [
  'https://github.com/Acme/Billing.git',
  'https://me@github.com/acme/billing',
  'git@github.com:acme/billing.git',
  'ssh://git@github.com:22/acme/billing.git',
  'ssh://git@github.com/acme/billing/',
];

test.each(SPELLINGS)('%s is github.com/acme/billing', (remote) => {
  expect(toPlainRemote(remote)).toBe('github.com/acme/billing');
  for (const text of [
    'github.com/acme/billing',
    'github.com/acme/*',
    'github.com/*/billing',
    'github.com/acme',
    ...SPELLINGS,
  ]) {
    expect(isMeant(text, '/anywhere', remote)).toBe(true);
  }
  expect(isMeant('github.com/acme/bill', '/anywhere', remote)).toBe(false);
});

test.each([
  ['darwin', '/Users/Ada/Secret', '/users/ada/secret/deep', true],
  ['darwin', '/Users/Ada/Caf\u00e9', '/Users/Ada/Cafe\u0301', true],
  ['linux', '/home/ada/Secret', '/home/ada/secret', false],
])('on %s the folder %s covers %s: %s', (platform, text, folder, expected) => {
  expect(isMeant(text, folder, undefined, platform)).toBe(expected);
});

test.each([['c:\\Files\\secret'], ['C:/files/Secret'], ['/c/Files/secret'], ['\\\\?\\C:\\Files\\Secret']])(
  'on Windows %s is one folder',
  (path) => expect(comparable(path, 'win32')).toBe('c:/files/secret'),
);

test.each([
  '~/x',
  '/x',
  './x',
  'C:\\x',
  'github.com/acme',
  'git@box:acme/x',
  'ssh://box/acme/x',
  '*/acme/x',
  'localhost/x',
])('%s is a path or an address', (text) => expect(findRuleProblem(text)).toBeUndefined());

test('no text makes a rule that throws', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, remote) => {
      expect(typeof isMeant(text, '/a/b', remote)).toBe('boolean');
    }),
    runs(100),
  );
});

describe('the wish of a folder', () => {
  const decide = (files: { [path: string]: string }, preferences?: object) => {
    const home = makeFolder();
    for (const [path, text] of Object.entries(files)) write(join(home, path), text);
    for (const folder of ['repo/deep', 'elsewhere', 'work']) mkdirSync(join(home, folder), { recursive: true });
    if (preferences) write(join(home, '.capture', 'preferences.json'), JSON.stringify(preferences));
    const policy = openTestPolicy(home);
    return (cwd?: string) => policy.objection('codex', { session: 's', ...(cwd && { cwd: join(home, cwd) }) });
  };

  test.each([
    ['{"capture": false}', /says so/],
    ['{"capture": true}', undefined],
    ['{"capture": "no"}', /is not \{"capture": true\}/],
    ['{', /is not \{"capture": true\}/],
    ['', /is not/],
    ['null', /is not/],
  ])('%s in a folder above decides', (text, reason) => {
    const objection = decide({ [`repo/${FOLDER_FILE}`]: text })('repo/deep');
    if (reason === undefined) expect(objection).toBeUndefined();
    else expect(objection).toMatch(reason);
  });

  test('the nearest file wins', () => {
    const objection = decide({ [FOLDER_FILE]: '{"capture":false}', [`repo/${FOLDER_FILE}`]: '{"capture":true}' });
    expect(objection('repo/deep')).toBeUndefined();
    expect(objection('elsewhere')).toMatch(/says so/);
  });

  test("a person's exclusion wins over a folder that wants to be captured", () => {
    const objection = decide({ [`repo/${FOLDER_FILE}`]: '{"capture":true}' }, { exclude: ['~/repo'] });
    expect(objection('repo/deep')).toBe('"~/repo" is excluded');
  });

  test('if only some folders are included, a session without a folder is left out', () => {
    const objection = decide({}, { include: ['~/repo'] });
    expect(objection('repo/deep')).toBeUndefined();
    expect(objection('elsewhere')).toBe('it is not in an included folder');
    expect(objection()).toMatch(/not known/);
  });

  test('if some folders are excluded, a session without a folder is left out', () => {
    const objection = decide({}, { exclude: ['~/private'] });
    expect(objection('work')).toBeUndefined();
    expect(objection()).toBe('its folder is not known, and some are excluded');
  });

  test('a repository is excluded by its remote', () => {
    const config = '[remote "origin"]\n\turl = git@github.com:acme/billing.git\n';
    const objection = decide({ 'repo/.git/config': config }, { exclude: ['github.com/acme/*'] });
    expect(objection('repo/deep')).toBe('"github.com/acme/*" is excluded');
    expect(objection('elsewhere')).toBeUndefined();
  });
});

describe('capturing', () => {
  const line = (session: string, index: number, cwd: string) =>
    `${JSON.stringify({
      ...{ type: 'user', uuid: `${session}-${index}`, sessionId: session, cwd },
      timestamp: '2026-01-01T00:00:00Z',
      message: { role: 'user', content: `prompt ${index} of ${session}` },
    })}\n`;

  async function prepare() {
    const home = makeFolder();
    const service = await startService();
    const options = { home, url: service.url, secret: 'sk_live_test' };
    const transcript = (session: string) => join(home, '.claude/projects/p', `${session}.jsonl`);
    const add = (session: string, index: number, folder: string) =>
      write(transcript(session), `${line(session, 0, join(home, folder))}${line(session, index, join(home, folder))}`);
    const texts = () => JSON.stringify([...service.state.sessions.values()]);
    return { home, options, add, texts };
  }

  test('an excluded session is left out and reported, and captured after the exclusion ends', async () => {
    const { home, options, add, texts } = await prepare();
    add('aaaa', 1, 'work');
    add('bbbb', 1, 'private');
    write(join(home, 'state/preferences.json'), '{"exclude":["~/private"]}');
    const first = await run(['import'], options);
    expect(first.stdout).toContain('Kept back 1 transcript that you do not want captured.');
    expect(texts()).toContain('prompt 1 of aaaa');
    expect(texts()).not.toContain('of bbbb');
    const words = await run(['import', '--dry-run'], options);
    const kept = join(home, '.claude/projects/p/bbbb.jsonl');
    expect(words.stdout).toContain(`Kept back 1 session: "~/private" is excluded\n  ${kept}\n`);
    expect(words.stdout.split('"~/private" is excluded')).toHaveLength(2);
    const rehearsal = await run(['import', '--dry-run', '--json'], options);
    expect(JSON.parse(rehearsal.stdout)).toMatchObject({
      keptBack: [{ agent: 'claude-code', session: 'bbbb', reason: '"~/private" is excluded' }],
    });
    writeFileSync(join(home, 'state/preferences.json'), '{}');
    await run(['import'], options);
    expect(texts()).toContain('prompt 1 of bbbb');
  });

  test('a skipped session gives no more events until the skip is undone', async () => {
    const { home, options, add, texts } = await prepare();
    add('aaaa', 1, 'work');
    await run(['import'], options);
    const context = { folder: join(home, 'work') };
    const skipped = await run(['skip', '--last', '--json'], { ...options, context });
    expect(JSON.parse(skipped.stdout)).toMatchObject({ session: 'aaaa', skipped: true, sent: 2 });
    add('aaaa', 2, 'work');
    await run(['import'], options);
    expect(texts()).not.toContain('prompt 2 of aaaa');
    const undone = await run(['skip', 'aa', '--undo'], options);
    expect(undone).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('by the next `capture import`') });
    await run(['import'], options);
    expect(texts()).toContain('prompt 2 of aaaa');
  });

  test.each([
    [['skip'], /Name a session by its id/],
    [['skip', 'zzz'], /There is no session zzz/],
    [['import', '--show'], /needs --dry-run/],
  ])('%s is refused with a hint', async (args, message) => {
    const { options, add } = await prepare();
    add('aaaa', 1, 'work');
    await run(['import'], options);
    const { exitCode, stderr } = await run(args, options);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  test('a rehearsal shows what would be sent, with secrets masked', async () => {
    const { home, options, add } = await prepare();
    add('aaaa', 1, 'work');
    write(join(home, 'work/.env'), 'API_TOKEN=plantedValue123456\n');
    const path = join(home, '.claude/projects/p/aaaa.jsonl');
    write(path, line('aaaa', 0, join(home, 'work')).replace('prompt 0', 'use plantedValue123456 now'));
    const { stdout, stderr } = await run(['import', '--dry-run', '--show'], options);
    const [event] = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(event.payload.text).toMatch(/^use \[REDACTED:.*\] now/);
    expect(stderr).toContain('Nothing was captured.');
    await run(['import'], options);
    const again = await run(['import', '--dry-run'], options);
    expect(again.stdout).toBe(
      'Nothing is new: everything that may be captured was captured before. Nothing was captured.\n',
    );
  });
});
