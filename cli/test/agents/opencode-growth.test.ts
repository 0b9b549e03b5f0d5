import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import type { Source } from '../../../contract/transcript.ts';
import { opencode } from '../../agents/opencode/opencode.ts';
import { openReading, spooledEvents } from '../reading.ts';

const fixture = fileURLToPath(new URL('fixtures/opencode/opencode.sql', import.meta.url));
const [schema = ''] = readFileSync(fixture, 'utf8').split('INSERT INTO');
const root = () => mkdtempSync(join(tmpdir(), 'opencode-'));

type Writer = ReturnType<typeof createWriter>;

/** Writes rows as the agent does: each row has the time of its write, which may precede its commit. */
function createWriter(folder: string) {
  const db = new DatabaseSync(join(folder, 'opencode.db'));
  db.exec(`PRAGMA journal_mode = WAL; ${schema}`);
  const ids: { [table: string]: string[] } = { session: [], message: [], part: [] };
  const pick = (table: string, at: number) => ids[table]?.[at % (ids[table].length || 1)];
  const add = (table: string) => {
    const id = `${table.slice(0, 3)}_${String(ids[table]?.length).padStart(4, '0')}`;
    ids[table]?.push(id);
    return id;
  };
  const count = (session: string) =>
    db.prepare('INSERT INTO event_sequence VALUES (?, 0, NULL) ON CONFLICT DO UPDATE SET seq = seq + 1').run(session);

  return {
    db,
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
  ),
  at: fc.nat(1000),
  text: fc.string({ maxLength: 5 }),
  waits: fc.constantFrom(0, 0, 1, 40, 3000, 30_000),
  isLate: fc.boolean(),
});

test('rows written in any order give the final content of the database, and no event twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const folder = root();
      const writer: Writer = createWriter(folder);
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
      const all = [...spooledEvents(reading.spool).values()].flat().map(json);
      expect(all).toHaveLength(new Set(all).size);
      for (const { spool } of [reading, other, whole]) spool.close();
      writer.db.close();
    }),
    runs(20),
  );
});
