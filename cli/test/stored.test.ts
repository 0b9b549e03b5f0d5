import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Agent, JsonObject } from '../agents/agent.ts';
import type { DatabaseStore, DocumentStore } from '../agents/store.ts';
import { openReading, textsOf } from './reading.ts';

/** An agent with a store of sessions; each record has an id and a text. */
const agentOf = (store: DocumentStore | DatabaseStore, name: string): Agent => ({
  id: 'custom',
  displayName: 'Stored',
  roots: () => [],
  isTranscript: (path) => path === name,
  store,
  identify: ({ path }) => ({ session: path.split('#')[1] ?? 'only' }),
  recordKey: () => undefined,
  parse: ({ id, text }, { origin, file, position }) => [
    {
      eventType: 'assistant.message',
      payload: {
        source: { agent: 'custom', session: origin.session, record: String(id), file, position, revision: 0 },
        text: String(text),
      },
    },
  ],
});

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stored-'));
});

describe('a rewritten document', () => {
  const store: DocumentStore = {
    kind: 'document',
    split: (text) =>
      Object.entries(JSON.parse(text) as Record<string, JsonObject[]>).map(([name, records]) => ({ name, records })),
  };
  const agent = agentOf(store, 'all.json');
  const save = (sessions: Record<string, string[]>) => {
    const records = Object.entries(sessions).map(([name, texts]) => [name, texts.map((text, id) => ({ id, text }))]);
    writeFileSync(join(root, 'all.json'), JSON.stringify(Object.fromEntries(records)));
  };

  test('gives the new records of each session once, even after a restart', async () => {
    const path = join(root, 'spool.db');
    save({ a: ['one', 'one'], b: ['two'] });
    const before = openReading(root, path, { agent });
    await before.read();
    save({ a: ['one', 'one', 'three'], b: ['two'], c: ['four'] });
    await before.read();
    before.spool.close();
    const after = openReading(root, path, { agent });
    save({ a: ['one', 'changed', 'three'], b: ['two'], c: ['four', 'five'] });
    await after.read();
    expect(textsOf(after.spool, 'a')).toEqual(['one', 'one', 'three', 'changed']);
    expect(textsOf(after.spool, 'b')).toEqual(['two']);
    expect(textsOf(after.spool, 'c')).toEqual(['four', 'five']);
  });

  test('is reported while it is torn, and read once it is whole', async () => {
    const reading = openReading(root, ':memory:', { agent });
    writeFileSync(join(root, 'all.json'), '{"a":[{"id":1,"te');
    await reading.read();
    expect(reading.troubles.map(({ path }) => path)).toEqual([join(root, 'all.json')]);
    save({ a: ['one'] });
    await reading.read();
    expect(textsOf(reading.spool, 'a')).toEqual(['one']);
  });

  test('is not read again until it changes', async () => {
    let splits = 0;
    const counting = {
      ...store,
      split: (text: string) => {
        splits++;
        return store.split(text);
      },
    };
    const reading = openReading(root, ':memory:', { agent: agentOf(counting, 'all.json') });
    save({ a: ['one'] });
    await reading.read();
    reading.findWork();
    const before = splits;
    reading.findWork();
    expect(splits).toBe(before);
  });
});

describe('a database with changing rows', () => {
  const store: DatabaseStore = {
    kind: 'database',
    sessions: (query) =>
      query('SELECT session AS name, max(changed) AS modifiedAt FROM rows GROUP BY session') as never,
    records: (query, session, since) =>
      query('SELECT * FROM rows WHERE session = ? AND changed >= ? ORDER BY id', session, since).map((row) => ({
        record: row,
        position: Number(row.id),
        modifiedAt: Number(row.changed),
        unsettled: row.done === 0,
      })),
  };
  const agent = agentOf(store, 'all.db');
  let db: DatabaseSync;
  beforeEach(() => {
    db = new DatabaseSync(join(root, 'all.db'));
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE rows (id INTEGER PRIMARY KEY, session, changed, done, text)');
    return () => db.close();
  });
  const put = (id: number, session: string, changed: number, text: string, done = 1) =>
    db.prepare('INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)').run(id, session, changed, done, text);

  test('gives the changed rows while its agent continues to write', async () => {
    const asked: unknown[] = [];
    const records: DatabaseStore['records'] = (query, session, since) => {
      asked.push([session, since]);
      return store.records(query, session, since);
    };
    const reading = openReading(root, ':memory:', { agent: agentOf({ ...store, records }, 'all.db') });
    put(1, 'a', 10, 'one');
    put(2, 'b', 11, 'two');
    await reading.read();
    put(3, 'a', 12, 'three');
    put(1, 'a', 13, 'one again');
    asked.length = 0;
    await reading.read();
    expect(textsOf(reading.spool, 'a')).toEqual(['one', 'one again', 'three']);
    expect(textsOf(reading.spool, 'b')).toEqual(['two']);
    expect(asked).toEqual([['a', 10]]);
  });

  test('counts its size once, not once for each session', () => {
    for (let session = 0; session < 20; session++) put(session, `session ${session}`, 10, 'text');
    const size = ['all.db', 'all.db-wal'].reduce((sum, name) => sum + statSync(join(root, name)).size, 0);
    const { bytes } = openReading(root, ':memory:', { agent }).findWork();
    expect(Math.abs(bytes - size)).toBeLessThanOrEqual(20);
  });

  test('a row changed at the same time as the last read row is captured', async () => {
    let now = 100;
    const reading = openReading(root, ':memory:', { agent, now: () => now });
    put(1, 'a', 10, 'one');
    await reading.read();
    put(2, 'a', 10, 'two');
    await reading.read();
    expect(textsOf(reading.spool, 'a')).toEqual(['one', 'two']);
    expect(reading.findWork().sessions).toHaveLength(1);
    now += 5000;
    await reading.read();
    expect(reading.findWork().sessions).toHaveLength(0);
  });

  test('an unfinished row waits until it is complete or abandoned', async () => {
    let now = 1000;
    const reading = openReading(root, ':memory:', { agent, now: () => now, patienceMs: 60_000 });
    put(1, 'a', 900, 'begun', 0);
    put(2, 'a', 950, 'done');
    await reading.read();
    expect(textsOf(reading.spool, 'a')).toEqual(['done']);
    put(1, 'a', 960, 'complete', 1);
    put(3, 'a', 970, 'abandoned', 0);
    await reading.read();
    now += 20_000;
    await reading.read();
    expect(textsOf(reading.spool, 'a')).toEqual(['done', 'complete', 'abandoned']);
  });

  test('reading an idle database leaves no files beside it', async () => {
    put(1, 'a', 10, 'one');
    db.close();
    const before = readdirSync(root);
    const reading = openReading(root, ':memory:', { agent });
    await reading.read();
    expect(textsOf(reading.spool, 'a')).toEqual(['one']);
    expect([before, readdirSync(root)]).toEqual([['all.db'], ['all.db']]);
    db = new DatabaseSync(join(root, 'all.db'));
  });

  test('a database without a write-ahead log is not read while its agent writes, only afterwards', async () => {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE');
    put(1, 'a', 10, 'one');
    const reading = openReading(root, ':memory:', { agent });
    await reading.read();
    expect(reading.troubles.map(({ reason }) => reason)).toEqual(['its agent is writing to it']);
    db.exec('COMMIT');
    await reading.read();
    expect(textsOf(reading.spool, 'a')).toEqual(['one']);
  });

  test('bytes and numbers that a double cannot represent are preserved', async () => {
    db.exec("INSERT INTO rows VALUES (1, 'a', 10, 1, 9007199254740993), (2, 'a', 10, 1, x'00ff')");
    const reading = openReading(root, ':memory:', {
      agent: {
        ...agent,
        parse: (record, place) => agent.parse({ ...record, text: JSON.stringify(record.text) }, place),
      },
    });
    await reading.read();
    expect(textsOf(reading.spool, 'a')).toEqual(['9007199254740993', '"AP8="']);
  });
});
