import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { takeLock } from '../lock.ts';
import { FILE_START } from '../read/cursor.ts';
import { makeFolder, removeFiles, write } from '../test/folder.ts';
import { DECISIONS_FILE, type Decision, openDecisions } from './decisions.ts';
import { openSpool } from './open.ts';

const decision = (session: string, parents: string[]): Decision => ({
  agent: 'codex',
  session,
  verdict: 'wanted',
  decidedAt: 0,
  isByPerson: false,
  facts: [],
  parents,
});

test('one process replaces damaged decisions, while others wait', () => {
  const folder = makeFolder();
  write(join(folder, DECISIONS_FILE), 'no database '.repeat(1000));
  const lock = takeLock(folder, DECISIONS_FILE);
  expect(() => openDecisions(folder)).toThrow('Another process is replacing');
  expect(readdirSync(folder).filter((name) => name.includes('corrupt'))).toEqual([]);
  lock?.release();
  const decisions = openDecisions(folder);
  onTestFinished(() => decisions?.close());
  expect(decisions?.consent()).toMatchObject({ history: 'none', isLost: true });
  expect(readdirSync(folder).filter((name) => name.includes('corrupt'))).toHaveLength(1);
});

test('a pause that was extended while the spool was open survives the loss of the decisions, and so does the clock', () => {
  const path = join(makeFolder(), 'spool.db');
  const spool = openSpool(path);
  spool.transact(() => {
    spool.setPauses([{ from: 1 }]);
    spool.noteClock(2);
  });
  spool.close();
  removeFiles(dirname(path), /^decisions\.db/);
  const { decisions, close } = openSpool(path);
  onTestFinished(close);
  expect(decisions.pauses()).toEqual([{ from: 1 }]);
  expect(decisions.clock()).toBe(2);
});

test("another account's spool that is opened after the loss does not change which sessions are kept back", () => {
  const folder = makeFolder();
  const [path, other] = ['spool-0000000000000001.db', 'spool-0000000000000002.db'].map((name) => join(folder, name));
  const spool = openSpool(path ?? '');
  const session = spool.sessions.ensure('codex', 'session');
  const place = { agent: 'codex', root: '/r', path: 's.jsonl', origin: { session: 'session' } };
  const startedAt = Date.now() + 3_600_000;
  spool.files.insert({ ...place, session, startedAt, leftBefore: undefined, isCaptured: true, cursor: FILE_START });
  spool.close();
  openSpool(other ?? '').close();
  removeFiles(folder, /^decisions\.db/);
  const sinceIn = (one = '') => {
    const { decisions, close } = openSpool(one);
    onTestFinished(close);
    return decisions.consent()?.since;
  };
  expect(sinceIn(path)).toBe(startedAt + 1);
  expect(sinceIn(other)).toBe(startedAt + 1);
});

test('a fork that is found during reading is kept back with its own forks, and no session is judged again', () => {
  const { decisions, close } = openSpool(':memory:');
  onTestFinished(close);
  for (const [session, parents] of [
    ['parent', []],
    ['fork', []],
    ['fork of it', ['fork']],
  ] as const) {
    decisions.store(decision(session, [...parents]));
  }
  decisions.decide('codex', 'parent', 'skipped', 1);
  const revision = decisions.revision();
  decisions.inherit('codex', 'fork', 'parent', 2);
  expect(['fork', 'fork of it'].map((name) => decisions.find('codex', name)?.verdict)).toEqual(['skipped', 'skipped']);
  expect(decisions.revision()).toBe(revision);
});

test('a skip remains in force although the session and its fork contain records of each other', () => {
  const spool = openSpool(join(makeFolder(), 'spool.db'));
  onTestFinished(spool.close);
  const { decisions } = spool;
  decisions.store(decision('session', ['fork']));
  decisions.store(decision('fork', ['session']));
  expect(decisions.decide('codex', 'fork', 'skipped', 1).map(({ session }) => session)).toEqual(['fork', 'session']);
  expect(decisions.find('codex', 'fork')).toMatchObject({ verdict: 'skipped', isByPerson: true });
  expect(decisions.find('codex', 'session')).toMatchObject({ verdict: 'skipped', isByPerson: false });
});

test('the prompt of a session that was skipped before it was sent is forgotten', () => {
  const spool = openSpool(':memory:');
  onTestFinished(spool.close);
  const [unsent = 0, sent = 0] = ['unsent', 'sent'].map((name) => spool.sessions.ensure('codex', name));
  for (const id of [unsent, sent]) spool.sessions.learn(id, { title: 'a title', prompt: 'kept-back' });
  spool.sessions.addSent(sent, 1);
  for (const id of [unsent, sent]) spool.keepBack(id, 'skipped', 1);
  expect(spool.sessions.get(unsent)).toMatchObject({ title: undefined, prompt: undefined });
  expect(spool.sessions.get(sent)).toMatchObject({ title: 'a title' });
});

test('the visibility of a session is stored beside its other decisions', () => {
  const folder = makeFolder();
  const decisions = openDecisions(folder, { isMade: true });
  onTestFinished(() => decisions?.close());
  decisions?.decide('codex', 'session', 'skipped', 1);
  decisions?.setVisibility('codex', 'session', 'private', 2);
  decisions?.decide('codex', 'session', 'wanted', 3);
  expect(decisions?.find('codex', 'session')).toMatchObject({ verdict: 'wanted', visibility: 'private' });
});

test.each([
  ['excluded', 'excluded'],
  ['skipped', 'skipped'],
  ['deleted', 'skipped'],
] as const)('a fork that is recognized by its records has the same way back as its %s parent', (verdict, expected) => {
  const decisions = openDecisions(makeFolder(), { isMade: true });
  onTestFinished(() => decisions?.close());
  decisions?.store({ ...decision('parent', []), verdict });
  decisions?.store(decision('fork', []));
  decisions?.store(decision('fork of the fork', ['fork']));
  decisions?.inherit('codex', 'fork', 'parent', 1);
  const verdicts = ['fork', 'fork of the fork'].map((session) => decisions?.find('codex', session)?.verdict);
  expect(verdicts).toEqual([expected, expected]);
});

test('if decisions are lost after the clock was set back, sessions count as older up to the latest time of a pause', () => {
  const folder = makeFolder();
  const path = join(folder, 'spool.db');
  const spool = openSpool(path);
  const shown = Date.now() + 3_600_000;
  spool.noteClock(shown);
  spool.close();
  removeFiles(folder, /^decisions\.db/);
  const again = openSpool(path);
  onTestFinished(again.close);
  expect(again.decisions.consent()).toEqual({ since: shown + 1, history: 'none', isLost: true });
});
