import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../agents/agent.ts';
import { database } from '../../agents/opencode/database.ts';
import type { Query } from '../../agents/store.ts';

const fixture = fileURLToPath(new URL('fixtures/opencode/opencode.sql', import.meta.url));
const LAST_CHANGE = 1_790_000_100_000;

let db: DatabaseSync;
let asked: string[];
beforeEach(() => {
  db = new DatabaseSync(':memory:');
  db.exec(readFileSync(fixture, 'utf8'));
  asked = [];
  return () => db.close();
});

const query: Query = (sql, ...parameters) => {
  asked.push(sql);
  return db.prepare(sql).all(...parameters) as JsonObject[];
};

const records = (session: string, since: number) => [...database.records(query, session, since)];

test('a session without changes gives only rows without a time of change', () => {
  const kinds = records('ses_root', LAST_CHANGE).map(({ record }) => Object.keys(record)[0]);
  expect(kinds).toEqual(['session', 'removed', 'removed']);
});

test('a row committed after later rows is read', () => {
  db.exec('UPDATE part SET data = \'{"type":"late"}\' WHERE id = \'prt_0002\'');
  const { time } = db.prepare("SELECT time_updated AS time FROM part WHERE id = 'prt_0002'").get() as { time: number };
  expect(records('ses_root', time + 5000).map(({ record }) => JSON.stringify(record))).toContainEqual(
    expect.stringContaining('"late"'),
  );
});

test('deleting a row changes the stamp of its session', () => {
  const stamp = () => database.sessions(query).find(({ name }) => name === 'ses_root')?.stamp;
  const before = stamp();
  db.exec("UPDATE event_sequence SET seq = seq + 1 WHERE aggregate_id = 'ses_root'");
  expect(stamp()).not.toBe(before);
});

test('a new part of an old message changes the time of its session', () => {
  const modifiedAt = () => database.sessions(query).find(({ name }) => name === 'ses_root')?.modifiedAt;
  db.exec(`UPDATE part SET time_updated = ${LAST_CHANGE + 7} WHERE id = 'prt_0002'`);
  expect(modifiedAt()).toBe(LAST_CHANGE + 7);
});

test('no query scans a table that may be large', () => {
  database.sessions(query);
  records('ses_root', 0);
  const plans = asked.flatMap((sql) => {
    const parameters = Array.from({ length: sql.split('?').length - 1 }, () => 'x');
    return db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
  });
  const scans = plans
    .map(({ detail }) => String(detail))
    .filter((detail) => /^SCAN (message|part|event|todo)/.test(detail));
  expect(scans).toEqual([]);
});

test('tables with secrets are not read', () => {
  database.sessions(query);
  const said = JSON.stringify([...records('ses_root', 0), ...records('ses_child', 0)]);
  expect(said).not.toContain('not to be read');
  expect(asked.join()).not.toMatch(/credential|account|share/);
});

test('a database of another program has no sessions', () => {
  db = new DatabaseSync(':memory:');
  expect(database.sessions(query)).toEqual([]);
});
