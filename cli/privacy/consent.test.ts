import { appendFileSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Agent } from '../agents/agent.ts';
import { claudeCode } from '../agents/claude-code/claude-code.ts';
import { cline } from '../agents/cline/cline.ts';
import { cursor } from '../agents/cursor/cursor.ts';
import { opencode } from '../agents/opencode/opencode.ts';
import { wantedFrom } from '../decide/periods.ts';
import { makeFolder, write } from '../test/folder.ts';
import { openReading, spooledEvents } from '../test/reading.ts';
import type { Consent } from './consent.ts';
import { narrowToConsent } from './narrow.ts';
import { createPolicy } from './policy.ts';

const DAY = 86_400_000;
const BEGUN = Date.now() - 5 * DAY;
const SINCE = Date.now() - DAY;

/** A machine where capturing began a day ago, without consent for earlier sessions. */
function openSince(agent: Agent, path: string, since = SINCE) {
  const root = makeFolder();
  const file = join(root, path);
  const reading = openReading(root, undefined, { agent, consent: { since, history: 'none' } });
  const said = () => JSON.stringify([...spooledEvents(reading.spool).values()]).match(/(old|new)-\w+/g) ?? [];
  return { ...reading, file, said };
}

/** Writes a file with a time some days ago. */
function writeOld(file: string, text: string): void {
  write(file, text);
  utimesSync(file, BEGUN / 1000, BEGUN / 1000);
}

const lines = (...records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const timed = (text: string, time: number) => ({
  type: 'user',
  uuid: text,
  sessionId: 's',
  timestamp: new Date(time).toISOString(),
  message: { content: text },
});

test('a folder of earlier sessions may end with a slash', () => {
  const consent = { since: SINCE, history: ['/home/ada/shop/'] };
  const folders = ['/home/ada/shop', '/home/ada/shop/src', '/home/ada/shopping'];
  expect(folders.map((folder) => wantedFrom(consent, folder))).toEqual([0, 0, SINCE]);
});

test('leading records without a time are not captured if an earlier session continues', async () => {
  const { file, read, said } = openSince(claudeCode, 'project/s.jsonl');
  writeOld(file, lines({ type: 'summary', summary: 'old-summary' }, timed('old-prompt', BEGUN)));
  await read();
  appendFileSync(file, lines(timed('new-prompt', Date.now()), { type: 'queue-operation', content: 'new-untimed' }));
  await read();
  expect(new Set(said())).toEqual(new Set(['new-prompt', 'new-untimed']));
});

test('in a transcript without any time, everything at the first reading counts as earlier', async () => {
  // The file is made before this time and changed after it.
  const since = Date.now() + DAY;
  const { file, read, said } = openSince(cursor, 'project/agent-transcripts/c/c.jsonl', since);
  const message = (text: string) => ({ role: 'user', message: { content: [{ type: 'text', text }] } });
  const change = (text: string) => {
    appendFileSync(file, lines(message(text)));
    utimesSync(file, since / 1000 + 1, since / 1000 + 1);
  };
  writeOld(file, lines(message('old-one')));
  await read();
  change('old-two');
  await read();
  expect(said()).toEqual([]);
  change('new-three');
  await read();
  expect(said()).toEqual(['new-three']);
});

test('a rewritten document without times keeps the age of its session', async () => {
  const { file, read, said } = openSince(cline, `tasks/${BEGUN}/api_conversation_history.json`);
  write(file, JSON.stringify([{ role: 'user', content: [{ type: 'text', text: 'old-one' }] }]));
  await read();
  expect(said()).toEqual([]);
});

test('if the whole history is allowed, a session whose clock was never set is captured too', async () => {
  const root = makeFolder();
  const reading = openReading(root, undefined, { consent: { since: SINCE, history: 'all' } });
  write(join(root, 'project/s.jsonl'), lines(timed('old-prompt', Date.UTC(1, 0))).replace('1901', '0001'));
  await reading.read();
  expect([...spooledEvents(reading.spool).values()].flat()).toHaveLength(1);
});

test('an earlier row that is read after a later one is not captured', async () => {
  const { file, read, said } = openSince(opencode, 'opencode.db');
  const db = new DatabaseSync(file);
  db.exec(readFileSync(join(import.meta.dirname, '../test/agents/fixtures/opencode/opencode.sql'), 'utf8'));
  const now = Date.now();
  const text = JSON.stringify({ type: 'text', text: 'new-prompt' });
  const earlier = 'UPDATE todo SET content = ?, time_created = ?, time_updated = ?';
  db.prepare(earlier).run('old-plan', BEGUN, BEGUN);
  db.prepare("UPDATE part SET data = ?, time_created = ?, time_updated = ? WHERE id = 'prt_0002'").run(text, now, now);
  db.prepare("UPDATE message SET data = json_set(data, '$.time.created', ?) WHERE id = 'msg_0001'").run(now);
  db.close();
  await read();
  expect(said()).toEqual(['new-prompt']);
});

test('a fork of OpenCode is as old as its session, although the parts of its prompts have new times', async () => {
  const { file, read, said } = openSince(opencode, 'opencode.db');
  const db = new DatabaseSync(file);
  db.exec(readFileSync(join(import.meta.dirname, '../test/agents/fixtures/opencode/opencode.sql'), 'utf8'));
  const now = Date.now();
  const text = JSON.stringify({ type: 'text', text: 'old-prompt' });
  db.prepare("UPDATE part SET data = ?, time_created = ?, time_updated = ? WHERE id = 'prt_0002'").run(text, now, now);
  db.prepare("UPDATE message SET data = json_set(data, '$.time.created', ?) WHERE id = 'msg_0001'").run(BEGUN);
  db.close();
  await read();
  expect(said()).toEqual([]);
});

test.each<[string, Partial<Consent>, number]>([
  ['who then says no', { isByPerson: true }, 0],
  ['whose decisions were lost', { isLost: true }, 0],
  ['who was not asked since', {}, 1],
])('waiting sessions from before the question, of a person %s: %o sends %i sessions', (_, more, waiting) => {
  const home = makeFolder();
  const { spool } = openReading(home);
  const session = spool.sessions.ensure('codex', 'earlier');
  spool.sessions.learn(session, { firstAt: BEGUN, lastAt: BEGUN });
  spool.batches.add({
    session,
    key: 'key',
    events: 1,
    digests: new Uint8Array(),
    marks: {},
    body: new Uint8Array([1]),
    madeAt: BEGUN,
  });
  spool.decisions.setConsent({ since: SINCE, history: 'none', ...more });
  const { decisions, transact } = spool;
  const policy = createPolicy({ home, variables: {}, now: Date.now, platform: 'linux', decisions, transact });
  narrowToConsent(spool, policy);
  expect(spool.batches.depth().batches).toBe(waiting);
});

test('waiting events of an excluded session are taken back too, before its rule is removed', () => {
  const home = makeFolder();
  const { spool } = openReading(home);
  const { decisions, transact } = spool;
  const session = spool.sessions.ensure('codex', 'earlier');
  spool.sessions.learn(session, { firstAt: BEGUN, lastAt: BEGUN });
  spool.batches.add({
    session,
    key: 'key',
    events: 1,
    digests: new Uint8Array(),
    marks: {},
    body: new Uint8Array([1]),
    madeAt: BEGUN,
  });
  const common = { agent: 'codex', session: 'earlier', decidedAt: BEGUN, isByPerson: false, facts: [], parents: [] };
  decisions.store({ ...common, verdict: 'excluded' });
  decisions.setConsent({ since: SINCE, history: 'none', isByPerson: true });
  const policy = createPolicy({ home, variables: {}, now: Date.now, platform: 'linux', decisions, transact });
  narrowToConsent(spool, policy);
  decisions.store({ ...common, verdict: 'wanted' });
  expect(spool.batches.depth().batches).toBe(0);
});

test('refused events of an earlier session are taken back too, so that no retry sends them', () => {
  const home = makeFolder();
  const { spool } = openReading(home);
  const { decisions, transact, refused } = spool;
  const session = spool.sessions.ensure('codex', 'earlier');
  spool.sessions.learn(session, { firstAt: BEGUN, lastAt: BEGUN });
  refused.add({ session, event: '{}', problem: 'too large', refusedAt: BEGUN });
  decisions.setConsent({ since: SINCE, history: 'none', isByPerson: true });
  const policy = createPolicy({ home, variables: {}, now: Date.now, platform: 'linux', decisions, transact });
  narrowToConsent(spool, policy);
  expect(refused.count()).toBe(0);
});
