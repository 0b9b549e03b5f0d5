import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import type { Source } from '../../../transcript/vocabulary.ts';
import { opencode } from '../../agents/opencode/opencode.ts';
import { openReading, spooledEvents } from '../reading.ts';

const schemaOf = (fixture: string) =>
  readFileSync(fileURLToPath(new URL(`fixtures/opencode/${fixture}.sql`, import.meta.url)), 'utf8').split(
    'INSERT INTO',
  )[0];
const root = () => mkdtempSync(join(tmpdir(), 'opencode-'));

/** Writes rows as the agent does: each row has the time of its write, which may precede its commit. */
interface Writer {
  db: DatabaseSync;
  session(now: number, at: number): void;
  message(now: number, at: number): void;
  part(now: number, at: number, text: string): void;
  change(now: number, at: number, text: string): void;
  fork(now: number, at: number): void;
}

function openDatabase(folder: string, fixture: string) {
  const db = new DatabaseSync(join(folder, 'opencode.db'));
  db.exec(`PRAGMA journal_mode = WAL; ${schemaOf(fixture)}`);
  const count = (session: string) =>
    db.prepare('INSERT INTO event_sequence VALUES (?, 0, NULL) ON CONFLICT DO UPDATE SET seq = seq + 1').run(session);
  return { db, count };
}

function createWriter1(folder: string): Writer {
  const { db, count } = openDatabase(folder, 'opencode');
  const ids: { [table: string]: string[] } = { session: [], message: [], part: [] };
  const pick = (table: string, at: number) => ids[table]?.[at % (ids[table].length || 1)];
  const add = (table: string) => {
    const id = `${table.slice(0, 3)}_${String(ids[table]?.length).padStart(4, '0')}`;
    ids[table]?.push(id);
    return id;
  };

  return {
    db,
    // Version 1 does not say which session is a fork.
    fork: () => undefined,
    session(now: number, at: number) {
      const parent = at % 3 === 0 ? (pick('session', at) ?? null) : null;
      const id = add('session');
      db.prepare(
        `INSERT INTO session (id, project_id, parent_id, slug, directory, title, version, time_created, time_updated)
        VALUES (?, 'p', ?, 's', '/home/dev', 'Untitled', '1.18.33', ?, ?)`,
      ).run(id, parent, now, now);
      count(id);
    },
    message(now: number, at: number) {
      const session = pick('session', at);
      if (session === undefined) return;
      const data = at % 2 === 0 ? { role: 'user' } : { role: 'assistant', modelID: 'm', time: { created: now } };
      db.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?)').run(add('message'), session, now, now, json(data));
      count(session);
    },
    part(now: number, at: number, text: string) {
      const message = pick('message', at);
      if (message === undefined) return;
      const session = String(db.prepare('SELECT session_id AS id FROM message WHERE id = ?').get(message)?.id);
      const data = at % 3 === 0 ? { type: 'text', text, time: { start: now } } : toolOf('running', text);
      db.prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)').run(add('part'), message, session, now, now, json(data));
      count(session);
    },
    change(now: number, at: number, text: string) {
      const table = ['part', 'message', 'part', 'session'][at % 4] ?? '';
      const id = pick(table, at >> 2);
      if (id === undefined) return;
      const row = db.prepare(`SELECT * FROM ${table} WHERE id = ?`).get(id);
      const [column, value] = table === 'session' ? ['title', text] : ['data', json(changed(String(row?.data), text))];
      db.prepare(`UPDATE ${table} SET ${column} = ?, time_updated = max(time_updated, ?) WHERE id = ?`).run(
        ...[value as string, now, id],
      );
      count(String(row?.session_id ?? id));
    },
  };
}

/** A message contains all its texts and calls, and is written again after each of them. */
function createWriter2(folder: string): Writer {
  const { db, count } = openDatabase(folder, 'opencode-2');
  const sessions: string[] = [];
  const messages: string[] = [];
  const addSession = (now: number, parent: string | null, forked: string | null) => {
    const id = `ses_${String(sessions.length).padStart(4, '0')}`;
    sessions.push(id);
    db.prepare(
      `INSERT INTO session_v2 (id, project_id, parent_id, fork_session_id, slug, directory, version, time_created, time_updated)
      VALUES (?, 'p', ?, ?, 's', '/home/dev', '2.0.12', ?, ?)`,
    ).run(id, parent, forked, now, now);
    count(id);
    return id;
  };
  /** Writes an answer again, unless it is complete. */
  const rewrite = (now: number, at: number, edit: (data: Required<Message>) => Message) => {
    const id = messages[at % (messages.length || 1)];
    if (id === undefined) return;
    const row = db.prepare('SELECT session_id AS session, data FROM session_message WHERE id = ?').get(id);
    const before = JSON.parse(String(row?.data)) as Message;
    if (before.content === undefined || before.time.completed !== undefined) return;
    const data = edit({ ...before, content: before.content });
    // A call takes at least a millisecond.
    db.prepare('UPDATE session_message SET data = ?, time_updated = max(time_updated + 1, ?) WHERE id = ?').run(
      ...[json(data), now, id],
    );
    count(String(row?.session));
  };

  return {
    db,
    session(now, at) {
      addSession(now, at % 3 === 0 ? (sessions[at % (sessions.length || 1)] ?? null) : null, null);
    },
    fork(now, at) {
      const from = sessions[at % (sessions.length || 1)];
      if (from === undefined) return;
      const id = addSession(now, null, from);
      // Only messages that are complete are copied, under ids of the fork.
      db.prepare(
        `INSERT INTO session_message SELECT 'msg_' || ? || '_' || seq, ?, type, seq, time_created, time_updated, data
        FROM session_message WHERE session_id = ? AND time_created <= ?
          AND (type <> 'assistant' OR json_extract(data, '$.time.completed') IS NOT NULL)`,
      ).run(id, id, from, now);
    },
    message(now, at) {
      const session = sessions[at % (sessions.length || 1)];
      if (session === undefined) return;
      const { seq, begun } = db
        .prepare(
          `SELECT coalesce(max(seq), -1) + 1 AS seq, (SELECT time_created FROM session_v2 WHERE id = ?1) AS begun
          FROM session_message WHERE session_id = ?1`,
        )
        .get(session) as { seq: number; begun: number };
      const written = Math.max(now, begun);
      const id = `msg_${String(messages.length).padStart(4, '0')}`;
      messages.push(id);
      const [type, data] = at % 2 === 0 ? ['user', { text: id }] : ['assistant', { content: [] }];
      db.prepare('INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)').run(
        ...[id, session, type as string, seq, written, written, json({ ...data, time: { created: written } })],
      );
      count(session);
    },
    part(now, at, text) {
      const call = { type: 'tool', id: 'c', name: 'shell', state: { status: 'running', input: { text } } };
      const added = at % 3 === 0 ? { type: 'text', text } : { ...call, time: { created: now } };
      rewrite(now, at, (data) => ({ ...data, content: [...data.content, added] }));
    },
    change(now, at, text) {
      const settle = (element: object) => ('state' in element ? { ...element, ...toolOf('completed', text) } : element);
      rewrite(now, at, ({ content, ...data }) => {
        const isEnd = text.length % 2 === 0 && { finish: 'stop', time: { ...data.time, completed: now } };
        return { ...data, content: content.map(settle), ...isEnd };
      });
    },
  };
}

interface Message {
  time: { created: number; completed?: number };
  content?: object[];
}

const json = (value: unknown) => JSON.stringify(value);
const toolOf = (status: string, text: string) => ({
  type: 'tool',
  tool: 'bash',
  callID: 'c',
  state: { status, input: text },
});

function changed(before: string, text: string): unknown {
  const data = JSON.parse(before) as { type?: string; role?: string; time?: object };
  if (data.type === 'tool') return { ...toolOf(text.length % 2 === 0 ? 'completed' : 'running', 'x'), metadata: text };
  if (data.type === 'text') return { ...data, text, ...(text.length % 2 === 0 && { time: { start: 1, end: 2 } }) };
  return { ...data, finish: text, ...(data.role === 'assistant' && { time: { created: 1, completed: 2 } }) };
}

/** The current events of every record of every session, by the rule of `Source.revision`. */
function newest(spool: Parameters<typeof spooledEvents>[0]): Map<string, string[]> {
  const records = new Map<string, { revision: number; events: string[] }>();
  for (const [session, events] of spooledEvents(spool)) {
    for (const { eventType, payload } of events) {
      const { record, subagent, revision = 0, index } = payload.source as Source;
      const key = `${session} ${subagent} ${record}`;
      const known = records.get(key);
      if (known && revision < known.revision) continue;
      if (known && revision === known.revision && index) known.events.push(json([eventType, payload]));
      else records.set(key, { revision, events: [json([eventType, payload])] });
    }
  }
  return new Map([...records].map(([key, { events }]): [string, string[]] => [key, events]).sort());
}

const step = fc.record({
  does: fc.constantFrom(
    'session',
    'message',
    'part',
    'part',
    'change',
    'change',
    'change',
    'poll',
    'poll',
    'restart',
    'other',
    'fork',
  ),
  at: fc.nat(1000),
  text: fc.string({ maxLength: 5 }),
  waits: fc.constantFrom(0, 0, 1, 40, 3000, 30_000),
  isLate: fc.boolean(),
});

test.each([
  { version: 1, createWriter: createWriter1 },
  { version: 2, createWriter: createWriter2 },
])(
  'rows of version $version give the final content of the database, and no writing twice',
  async ({ createWriter }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const folder = root();
        const writer = createWriter(folder);
        let now = 1_790_000_000_000;
        const open = (spool: string) =>
          openReading(folder, spool, { agent: opencode, now: () => now, patienceMs: 60_000 });
        const spool = join(folder, 'spool');
        let reading = open(spool);
        const other = open(spool);
        for (const { does, at, text, waits, isLate } of steps) {
          now += waits;
          if (does === 'poll') await reading.read();
          else if (does === 'other') await other.read();
          else if (does === 'restart') {
            reading.spool.close();
            reading = open(spool);
          } else writer[does](isLate ? now - 4000 : now, at, text);
        }
        now += 60_000;
        await reading.read();
        await other.read();

        const whole = open(':memory:');
        await whole.read();
        expect(newest(reading.spool)).toEqual(newest(whole.spool));
        // A later writing of a message may repeat a call, but its first event has the changed rest.
        const isFirst = ({ payload }: { payload: object }) => ((payload as { source: Source }).source.index ?? 0) === 0;
        const all = [...spooledEvents(reading.spool).values()].flat().filter(isFirst).map(json);
        expect(all).toHaveLength(new Set(all).size);
        for (const { spool } of [reading, other, whole]) spool.close();
        writer.db.close();
      }),
      runs(10),
    );
  },
);
