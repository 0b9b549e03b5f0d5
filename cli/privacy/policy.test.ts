import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { openTestPolicy } from '../test/policy.ts';

/** A home with folders, and the policy of a person who excludes one of them. */
function prepare() {
  const home = makeFolder();
  const folder = (name: string) => join(home, name);
  for (const name of ['open', 'secret']) mkdirSync(folder(name));
  const exclude = (...rules: string[]) => write(folder('.capture/preferences.json'), JSON.stringify({ exclude: rules }));
  exclude('~/secret');
  const policy = openTestPolicy(home);
  const meet = (session: string, cwd?: string) =>
    policy.objection('codex', { session, ...(cwd && { cwd: folder(cwd) }) }, { startedAt: 1, heads: () => [] });
  return { policy, meet };
}

test('a session whose first records name no folder is captured once a later record names one', () => {
  const { policy, meet } = prepare();
  expect(meet('live')).toMatch('its folder is not known');
  policy.keep();
  expect(meet('live', 'open')).toBeUndefined();
});

test('a transcript in an excluded folder is left out, although its session was met in another folder', () => {
  const { meet } = prepare();
  expect(meet('shared', 'open')).toBeUndefined();
  expect(meet('shared', 'secret')).toBe('"~/secret" is excluded');
  expect(meet('shared', 'open')).toBeUndefined();
});
