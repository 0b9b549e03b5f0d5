import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { findUnwritable } from './state-folder.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** The result in a process without root's rights, since root may write everywhere. */
function findAsSomebody(state: string): { message: string; hint: string } | null {
  const module = pathToFileURL(join(import.meta.dirname, 'state-folder.ts')).href;
  const code = `
    const { findUnwritable } = await import(${JSON.stringify(module)});
    if (process.getuid() === 0) process.setuid(${NOBODY});
    const { message, hint } = findUnwritable(${JSON.stringify(state)}) ?? {};
    console.log(JSON.stringify(message === undefined ? null : { message, hint }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  expect(stderr.replace(/^.*ExperimentalWarning.*$|^\(Use .*$/gm, '').trim()).toBe('');
  return JSON.parse(stdout);
}

/** A state folder that the process of `findAsSomebody` owns, below folders that it may enter. */
function makeState(): { home: string; state: string; spool: string } {
  const home = makeFolder();
  const state = join(home, 'state');
  const spool = write(join(state, 'spool.db'), '');
  for (const path of [home, state, spool]) {
    chmodSync(path, 0o700);
    if (isRoot) chownSync(path, NOBODY, NOBODY);
  }
  return { home, state, spool };
}

test("a person's own folder is fine, and so is one that does not exist yet", () => {
  const { home, state } = makeState();
  expect(findAsSomebody(state)).toBeNull();
  expect(findAsSomebody(join(home, 'later/state'))).toBeNull();
  expect(findUnwritable(state)).toBeUndefined();
});

test('a state folder without the right to write is reported, with the command that gives the right', () => {
  const { state } = makeState();
  chmodSync(state, 0o500);
  expect(findAsSomebody(state)).toEqual({
    message: `${state} cannot be written to (EACCES), so nothing is captured.`,
    hint: `chmod -R u+rwX ${state}`,
  });
});

test('a folder in which the state folder cannot be created is reported too', () => {
  const { home } = makeState();
  chmodSync(home, 0o500);
  expect(findAsSomebody(join(home, 'later/state'))?.message).toContain(`${home} cannot be written to`);
});

test.runIf(isRoot)('a spool that `sudo capture` created is reported, with the command that gives it back', () => {
  const { state, spool } = makeState();
  chownSync(spool, 0, 0);
  expect(findAsSomebody(state)).toEqual({
    message: `${spool} cannot be written to (EACCES), so nothing is captured.`,
    hint: `sudo chown -R "$(id -u)" ${state}`,
  });
});
