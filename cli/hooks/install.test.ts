import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGENTS } from '../agents/all.ts';
import { makeFolder, write } from '../test/folder.ts';
import { readTree } from '../test/tree.ts';
import { findHooks, installHooks, removeHooks } from './install.ts';

function prepare() {
  const home = makeFolder();
  const context = { variables: {}, home, platform: 'linux' };
  const [wanted] = findHooks({ agents: AGENTS });
  if (wanted === undefined) throw new Error('no agent needs hooks');
  return { home, context, wanted, path: join(home, '.cursor/hooks.json'), state: join(home, '.capture') };
}

const agentFiles = (home: string) =>
  Object.fromEntries(Object.entries(readTree(home)).filter(([path]) => !path.startsWith('.capture')));

test.each([
  ['as people write it', '{\r\n\t"version": 1, // mine\r\n\t"hooks": {"stop": [{"command": "theirs"}],},\r\n}', 0o600],
  ['empty', '', 0o640],
])('a file %s is byte for byte the same after installing and removing', (_, text, mode) => {
  const { home, context, wanted } = prepare();
  write(join(home, 'dotfiles/hooks.json'), text, mode);
  mkdirSync(join(home, '.cursor'));
  symlinkSync('../dotfiles/hooks.json', join(home, '.cursor/hooks.json'));
  const before = agentFiles(home);
  const installed = installHooks(context, wanted, true).change;
  if (installed === 'left') return expect(agentFiles(home)).toEqual(before);
  expect(installed).toBe('edited');
  expect(statSync(join(home, 'dotfiles/hooks.json')).mode & 0o777).toBe(mode);
  expect(installHooks(context, wanted, false).change).toBe('none');
  expect(removeHooks(context, wanted).change).toBe('restored');
  expect(agentFiles(home)).toEqual(before);
});

test('a file that did not exist is removed again', () => {
  const { context, wanted, path } = prepare();
  expect([installHooks(context, wanted, false).change, existsSync(path)]).toEqual(['created', false]);
  expect(installHooks(context, wanted, true)).toEqual({ path, change: 'created' });
  expect(removeHooks(context, wanted)).toEqual({ path, change: 'removed' });
  expect(existsSync(path)).toBe(false);
});

test('the original file is kept for its owner only, and a second install changes nothing', () => {
  const { home, context, wanted, path, state } = prepare();
  write(path, '{"version": 1}');
  installHooks(context, wanted, true);
  const copy = join(state, 'hooks/cursor.hooks.json.before-capture');
  expect([readFileSync(copy, 'utf8'), statSync(copy).mode & 0o777]).toEqual(['{"version": 1}', 0o600]);
  const once = readTree(home);
  expect(installHooks(context, wanted, true).change).toBe('none');
  expect(readTree(home)).toEqual(once);
});

test.each([true, false])(
  'entries that other programs add meanwhile stay, with or without the original file (%s)',
  (isKept) => {
    const { context, wanted, path, state } = prepare();
    write(path, '{"version": 1}');
    installHooks(context, wanted, true);
    const settings = JSON.parse(readFileSync(path, 'utf8'));
    settings.hooks.stop.unshift({ command: 'theirs' });
    write(path, JSON.stringify({ ...settings, more: true }));
    chmodSync(path, 0o640);
    if (!isKept) rmSync(state, { recursive: true, force: true });
    expect(removeHooks(context, wanted).change).toBe('cleaned');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      version: 1,
      hooks: { stop: [{ command: 'theirs' }] },
      more: true,
    });
    expect(statSync(path).mode & 0o777).toBe(0o640);
  },
);

test.each([
  ['broken', '{"hooks": '],
  ['nested without end', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ['not UTF-8', Buffer.from('{"a": "\xff"}', 'latin1')],
])('settings that are %s are left alone, with the entries to add', (_, text) => {
  const { context, wanted, path } = prepare();
  write(path, text);
  const { change, reason, snippet } = installHooks(context, wanted, true);
  expect([change, reason, snippet]).toEqual(['left', expect.any(String), expect.stringContaining('bin/hook cursor')]);
  expect(readFileSync(path)).toEqual(Buffer.from(text));
  expect(removeHooks(context, wanted).change).toBe('none');
});

test('settings that became unreadable with our entries in them are left alone and reported', () => {
  const { context, wanted, path } = prepare();
  installHooks(context, wanted, true);
  write(path, `${readFileSync(path, 'utf8')} and more`);
  expect(removeHooks(context, wanted)).toMatchObject({ change: 'left', reason: 'it is not valid JSON' });
});

test('a folder or a pipe in place of the settings is left alone', () => {
  const { context, wanted, path } = prepare();
  mkdirSync(path, { recursive: true });
  expect(installHooks(context, wanted, true)).toMatchObject({
    change: 'left',
    reason: expect.stringContaining('cannot be read'),
  });
});
