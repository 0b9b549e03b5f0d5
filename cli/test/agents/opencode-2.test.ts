import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Source } from '../../../transcript/vocabulary.ts';
import type { JsonObject } from '../../agents/agent.ts';
import { database } from '../../agents/opencode/database.ts';
import { opencode } from '../../agents/opencode/opencode.ts';
import type { Query } from '../../agents/store.ts';
import { makeFolder } from '../folder.ts';
import { openReading, spooledEvents, textsOf } from '../reading.ts';

const fixture = readFileSync(fileURLToPath(new URL('fixtures/opencode/opencode-2.sql', import.meta.url)), 'utf8');
const START = 1_795_000_000_000;
const LATER = START + 10_000_000;

const STATEMENTS = fixture.split(/;\n/).filter((statement) => statement.trim() !== '');

/** The tables of version 2 with their rows, which appear when the agent is updated. */
const isOfVersion2 = (statement: string) => /\b(session_v2|session_message|session_inbox)\b/.test(statement);

/** The agent's database with some statements of the fixture, and a reader that waits for unfinished rows. */
function openDatabase(wanted: (statement: string) => boolean = () => true, patienceMs = 10_000) {
  const folder = makeFolder();
  const db = new DatabaseSync(join(folder, 'opencode.db'));
  onTestFinished(() => db.close());
  const run = (isWanted: (statement: string) => boolean) =>
    db.exec(`BEGIN; ${STATEMENTS.filter(isWanted).join(';')}; COMMIT`);
  run(wanted);
  const clock = { now: LATER };
  const { spool, read } = openReading(folder, ':memory:', { agent: opencode, now: () => clock.now, patienceMs });
  const eventsOf = (session: string) => spooledEvents(spool).get(session) ?? [];
  return { db, run, clock, spool, read, eventsOf, texts: (session: string) => textsOf(spool, session) };
}

const sourceOf = ({ payload }: { payload: JsonObject }) => payload.source as Source;

/** Adds a fork with copies of another session's first messages, as the agent does. */
function fork(db: DatabaseSync, id: string, of: string, at: number, upTo: number) {
  db.prepare(
    `INSERT OR IGNORE INTO session_v2 (id, project_id, fork_session_id, slug, directory, title, version, time_created, time_updated)
    VALUES (?, 'prj', ?, 's', '/home/dev/shop', 'Again', '2.0.12', ?, ?)`,
  ).run(id, of, at, at);
  db.prepare(
    `INSERT INTO session_message SELECT 'msg_' || ? || '_' || seq, ?, type, seq, time_created, time_updated, data
    FROM session_message WHERE session_id = ? AND seq <= ?`,
  ).run(id, id, of, upTo);
}

/** Adds a message as the agent does. */
function insert(db: DatabaseSync, id: string, session: string, type: string, seq: number, at: number, data: object) {
  db.prepare('INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)').run(
    ...[id, session, type, seq, at, at, JSON.stringify({ ...data, time: { created: at } })],
  );
}

test('a session of version 2 is captured', async () => {
  const { read, eventsOf, texts } = openDatabase();
  await read();
  expect(texts('ses_2main')).toEqual(
    expect.arrayContaining(['I look at the file.', 'Discounts are added.', 'And taxes']),
  );
  const usage = eventsOf('ses_2main').filter(({ eventType }) => eventType === 'usage');
  // Three answers and a sub-agent's, a compaction, and a title.
  expect(usage.map(({ payload }) => payload.inputTokens).sort()).toEqual([120, 1200, 20, 202, 310, 90]);
});

test('a session that version 2 has copied from version 1 is captured once, also if it was captured before', async () => {
  const before = openDatabase((statement) => !isOfVersion2(statement));
  await before.read();
  expect(before.texts('ses_1moved')).toContain('Write invoices');
  before.run(isOfVersion2);
  await before.read();
  const after = openDatabase();
  await after.read();
  for (const { texts } of [before, after]) {
    const told = texts('ses_1moved').filter((text) => /invoice|Called/i.test(text));
    const once = [
      'Write invoices',
      'Called the Read tool',
      'Invoices are written.',
      'Send the invoices',
      'Invoices are sent.',
    ];
    expect(told.sort()).toEqual(once.sort());
  }
  for (const { eventsOf } of [before, after]) {
    const usage = eventsOf('ses_1moved').filter(({ eventType }) => eventType === 'usage');
    expect(usage.map(({ payload }) => payload.inputTokens)).toEqual([200, 260]);
  }
});

test('a session that goes on in both versions has the turns of both', async () => {
  const { db, read, texts } = openDatabase();
  await read();
  const at = LATER - 1000;
  const data = { role: 'user', time: { created: at } };
  db.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?)').run('msg_1m09', 'ses_1moved', at, at, JSON.stringify(data));
  db.prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)').run(
    ...['prt_1m09', 'msg_1m09', 'ses_1moved', at, at, JSON.stringify({ type: 'text', text: 'typed in version 1' })],
  );
  insert(db, 'msg_2m05', 'ses_1moved', 'user', 5, at + 5, { text: 'typed in version 2' });
  await read();
  expect(texts('ses_1moved').filter((text) => text.startsWith('typed'))).toEqual([
    'typed in version 1',
    'typed in version 2',
  ]);
});

test('a fork repeats nothing of its session, and a fork of the fork nothing of either', async () => {
  const { db, read, eventsOf, texts, spool } = openDatabase();
  const at = START + 20_000;
  fork(db, 'ses_2fork', 'ses_2main', at, 3);
  fork(db, 'ses_3fork', 'ses_2fork', at, 6);
  insert(db, 'msg_3f09', 'ses_3fork', 'user', 9, at + 10, { text: 'Only on Fridays' });
  await read();
  const isSaid = (text: string) => !/^(Prices|Again|session|agent)/.test(text);
  expect(texts('ses_2fork').filter(isSaid)).toEqual([
    'Only for members',
    'Only members get them.',
    'usage',
    'turn.finished',
  ]);
  expect(texts('ses_3fork').filter(isSaid)).toEqual(['Only on Fridays']);
  const parents = spool.sessions.list().map(({ agentSession, forkedFrom }) => [agentSession, forkedFrom]);
  expect(parents).toEqual(
    expect.arrayContaining([
      ['ses_2fork', 'ses_2main'],
      ['ses_3fork', 'ses_2fork'],
    ]),
  );
  expect(eventsOf('ses_2main').filter(({ payload }) => payload.text === 'The date is Friday.')).toHaveLength(1);
});

test('forks of a deleted session repeat nothing of each other', async () => {
  const { db, read, texts } = openDatabase();
  const at = START + 20_000;
  fork(db, 'ses_2fork', 'ses_2main', at, 3);
  fork(db, 'ses_3fork', 'ses_2fork', at, 6);
  for (const column of ['session_id', 'id']) {
    db.exec(`DELETE FROM ${column === 'id' ? 'session_v2' : 'session_message'} WHERE ${column} = 'ses_2main'`);
  }
  await read();
  const told = ['ses_2fork', 'ses_3fork'].flatMap(texts).filter((text) => text === 'Only for members');
  expect(told).toHaveLength(1);
});

test('a fork of a session from version 1 does not repeat its copied messages', async () => {
  const { db, read, texts } = openDatabase();
  const at = START + 20_000;
  fork(db, 'ses_3fork', 'ses_1moved', at, 1);
  insert(db, 'msg_3f02', 'ses_3fork', 'user', 2, at + 10, { text: 'Write reminders' });
  await read();
  expect(texts('ses_3fork').filter((text) => text !== 'session.meta')).toEqual(['Write reminders']);
});

test('a running call is captured at once, and its result replaces it', async () => {
  const { db, read, clock, eventsOf } = openDatabase();
  const at = clock.now;
  const call = (state: object) => ({
    type: 'tool',
    id: 'call_9',
    name: 'shell',
    state,
    time: { created: at, ran: at + 1 },
  });
  const write = (seconds: number, data: object) =>
    db
      .prepare("UPDATE session_message SET data = ?, time_updated = ? WHERE id = 'msg_live'")
      .run(JSON.stringify(data), at + seconds * 1000);
  insert(db, 'msg_live', 'ses_2main', 'assistant', 30, at, { agent: 'build', content: [] });
  const running = { status: 'running', input: { command: 'make' }, metadata: {} };
  const text = { type: 'text', text: 'I build it.' };
  write(1, { content: [text, call(running)], time: { created: at } });
  clock.now += 1500;
  await read();
  write(2, { content: [text, call({ ...running, metadata: { output: 'so far' } })], time: { created: at } });
  clock.now += 1000;
  await read();
  const live = () => eventsOf('ses_2main').filter((event) => sourceOf(event).record === 'msg_live');
  expect(live().map(({ eventType }) => eventType)).toEqual(['assistant.message', 'tool.call']);
  const done = { status: 'completed', input: running.input, content: [{ type: 'text', text: 'built' }] };
  write(3, { content: [text, call(done)], finish: 'tool-calls', time: { created: at, completed: at + 3000 } });
  clock.now += 1000;
  await read();
  const said = ['assistant.message', 'tool.call'];
  expect(live().map(({ eventType }) => eventType)).toEqual([...said, ...said, 'tool.result']);
  const [asked, , answered, , result] = live().map((event) => sourceOf(event).revision ?? 0);
  expect(answered).toBeGreaterThan(asked ?? 0);
  expect(result).toBe(answered);
});

test('an answer that is still being written waits, and is captured as it is once nothing has changed for a while', async () => {
  const { db, read, clock, texts } = openDatabase();
  insert(db, 'msg_live', 'ses_2main', 'assistant', 30, clock.now, {
    content: [{ type: 'text', text: 'half an answer' }],
  });
  await read();
  expect(texts('ses_2main')).not.toContain('half an answer');
  clock.now += 20_000;
  await read();
  expect(texts('ses_2main')).toContain('half an answer');
});

test('a first version of the tables without a table of its own for sessions is captured', async () => {
  const folder = makeFolder();
  const db = new DatabaseSync(join(folder, 'opencode-next.db'));
  onTestFinished(() => db.close());
  db.exec(`CREATE TABLE session (id text PRIMARY KEY, parent_id text, fork_session_id text, directory text, title text,
      version text, time_created integer, time_updated integer);
    CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer,
      time_updated integer, data text);
    INSERT INTO session VALUES ('ses_n', NULL, NULL, '/home/dev', 'Early', '2.0.0', ${START}, ${START})`);
  insert(db, 'msg_n', 'ses_n', 'user', 0, START, { text: 'prompt of an early version' });
  const { spool, read } = openReading(folder, ':memory:', { agent: opencode });
  await read();
  expect(textsOf(spool, 'ses_n')).toContain('prompt of an early version');
});

test('no query scans a table that may be large, and tables with secrets are not read', () => {
  const { db } = openDatabase();
  const asked: string[] = [];
  const query: Query = (sql, ...parameters) => {
    asked.push(sql);
    return db.prepare(sql).all(...parameters) as JsonObject[];
  };
  const sessions = database.sessions(query).map(({ name }) => name);
  const said = JSON.stringify(sessions.map((session) => [...database.records(query, session, 0)]));
  expect(said).not.toContain('not to be read');
  expect(asked.join()).not.toMatch(/credential|account|share/);
  const plans = asked.flatMap((sql) => {
    const parameters = Array.from({ length: sql.split('?').length - 1 }, () => 'x');
    return db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
  });
  const details = plans.map(({ detail }) => String(detail));
  expect(details.filter((detail) => /^SCAN (\w*message|part|event|todo)/.test(detail))).toEqual([]);
});
