import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { openTestPolicy } from '../test/policy.ts';
import type { PolicyOptions } from './policy.ts';

/** A home with folders, and the policy of a person who excludes one of them. */
function prepare(more: Partial<PolicyOptions> = {}) {
  const home = makeFolder();
  const folder = (name: string) => join(home, name);
  for (const name of ['open', 'secret']) mkdirSync(folder(name));
  const exclude = (...rules: string[]) =>
    write(folder('.capture/preferences.json'), JSON.stringify({ exclude: rules }));
  exclude('~/secret');
  const { decisions, transact, close } = openSpool(':memory:');
  onTestFinished(close);
  const policy = openTestPolicy(home, { decisions, transact, ...more });
  const meet = (session: string, cwd?: string) =>
    policy.objection('codex', { session, ...(cwd && { cwd: folder(cwd) }) }, { startedAt: 1, firstRecords: () => [] });
  return { home, policy, decisions, exclude, meet };
}

test('a session whose first records name no folder is captured once a later record names one', () => {
  const { policy, meet } = prepare();
  expect(meet('live')).toMatch('its folder is not known');
  policy.store();
  expect(meet('live', 'open')).toBeUndefined();
});

test('a transcript in an excluded folder is left out, although its session was met in another folder', () => {
  const { meet } = prepare();
  expect(meet('shared', 'open')).toBeUndefined();
  expect(meet('shared', 'secret')).toBe('"~/secret" is excluded');
  expect(meet('shared', 'open')).toBeUndefined();
});

test("a link that is later created at a rule's path keeps back sessions that were met before", () => {
  const { home, policy, exclude, meet } = prepare();
  exclude('~/link');
  policy.refresh();
  expect(meet('early', 'open')).toBeUndefined();
  policy.store();
  symlinkSync(join(home, 'open'), join(home, 'link'));
  expect(policy.refresh()).toBe(true);
  expect(policy.find('codex', 'early')?.verdict).toBe('excluded');
});

test('a skipped session whose repository is gone stays excluded once it is not skipped any more', () => {
  const { home, policy, decisions, exclude, meet } = prepare();
  write(join(home, 'open/.git/config'), '[remote "origin"]\n\turl = https://git.example.com/me/diary.git\n');
  exclude('git.example.com/me/diary');
  policy.refresh();
  decisions.decide('codex', 'early', 'skipped', 1);
  meet('early', 'open');
  policy.store();
  rmSync(join(home, 'open/.git'), { recursive: true });
  decisions.decide('codex', 'early', 'wanted', 2);
  policy.refresh();
  expect(policy.find('codex', 'early')?.verdict).toBe('excluded');
});

test('a folder that forbids capturing keeps back waiting events, even if nothing else changes', () => {
  let now = 1_000_000;
  const { home, policy, meet } = prepare({ now: () => now, unfinished: () => [{ agent: 'codex', session: 'early' }] });
  expect(meet('early', 'open')).toBeUndefined();
  policy.store();
  write(join(home, 'open/.session-capture.json'), '{"capture": false}');
  now += 11_000;
  expect(policy.refresh()).toBe(true);
  policy.store();
  expect(policy.find('codex', 'early')?.verdict).toBe('excluded');
  // The folder is looked at again after ten seconds.
  expect(policy.refresh()).toBe(false);
});

test('a folder that asks for private and is removed later makes its idle session private', () => {
  let now = 1_000_000;
  const spool = openSpool(':memory:');
  onTestFinished(spool.close);
  const { decisions, transact, batches, sessions } = spool;
  const { home, policy, meet } = prepare({ decisions, transact, now: () => now, unfinished: batches.unfinished });
  expect(meet('idle', 'open')).toBeUndefined();
  policy.store();
  // All its events were sent, and the agent may go on.
  sessions.setOpen(sessions.ensure('codex', 'idle'), 'ses_1', 0);
  write(join(home, 'open/.session-capture.json'), '{"visibility": "private"}');
  now += 11_000;
  policy.refresh();
  rmSync(join(home, 'open'), { recursive: true });
  now += 11_000;
  policy.refresh();
  expect(policy.visibilityOf('codex', 'idle', { folders: [join(home, 'open')], isNew: true })).toBe('private');
});

test('the parent of a fork is captured again once the fork follows the present rules of their folder', () => {
  let now = 1_000_000;
  const { home, policy, decisions, meet } = prepare({ now: () => now });
  const setting = write(join(home, 'open/.session-capture.json'), '{"capture": false}');
  expect(meet('parent', 'open')).toBeDefined();
  policy.store();
  rmSync(setting);
  now += 11_000;
  const fork = { session: 'fork', cwd: join(home, 'open'), forkedFrom: 'parent' };
  expect(policy.objection('codex', fork, { startedAt: 2, firstRecords: () => [] })).toBeUndefined();
  policy.store();
  expect(decisions.isKeptBack('codex', 'parent')).toBe(false);
});

test('a long chain of forks is judged quickly', () => {
  const home = makeFolder();
  const { decisions, transact, close } = openSpool(':memory:');
  onTestFinished(close);
  const names = Array.from({ length: 60 }, (_, index) => `s${index}`);
  for (const [index, session] of names.entries()) {
    // A fork begins with the records of all its ancestors.
    const parents = names.slice(0, index).reverse();
    decisions.store({
      agent: 'codex',
      session,
      verdict: index === 0 ? 'skipped' : 'wanted',
      decidedAt: 0,
      isByPerson: index === 0,
      facts: [],
      parents,
    });
  }
  const policy = openTestPolicy(home, { decisions, transact });
  expect(policy.find('codex', 's59')?.verdict).toBe('skipped');
}, 5000);

test('both folders decide about two sessions that are forks of each other', () => {
  const home = makeFolder();
  const { decisions, transact, close } = openSpool(':memory:');
  onTestFinished(close);
  const parents = { out: [], one: ['other'], other: ['one', 'out'], fork: ['one'] };
  for (const [session, from] of Object.entries(parents)) {
    const isOut = session === 'out';
    const verdict = isOut ? 'skipped' : 'wanted';
    decisions.store({ agent: 'codex', session, verdict, decidedAt: 0, isByPerson: isOut, facts: [], parents: from });
  }
  const policy = openTestPolicy(home, { decisions, transact });
  expect(Object.keys(parents).map((name) => policy.find('codex', name)?.verdict)).toEqual(Array(4).fill('skipped'));
});

test('a session that a person wants again is captured once the rule against its folder is removed', () => {
  const { meet, exclude, policy, decisions } = prepare();
  decisions.decide('codex', 'undone', 'wanted', 1);
  expect(meet('undone', 'open')).toBeUndefined();
  exclude('~/open');
  policy.refresh();
  expect(meet('undone', 'open')).toBe('"~/open" is excluded');
  exclude();
  policy.refresh();
  expect(meet('undone', 'open')).toBeUndefined();
});

test('a session whose file server is away is judged again as soon as the server answers', () => {
  let now = 0;
  let isThere = false;
  const { policy, decisions, meet } = prepare({ now: () => now, isReachable: () => isThere });
  expect(meet('away', 'open')).toMatch('file server');
  policy.store();
  expect(policy.refresh()).toBe(false);
  isThere = true;
  now += 60_000;
  expect(policy.refresh()).toBe(true);
  policy.store();
  expect(decisions.find('codex', 'away')?.verdict).toBe('wanted');
  expect(policy.refresh()).toBe(false);
});
