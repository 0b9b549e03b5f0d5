import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { goose } from '../../agents/goose/goose.ts';
import { openReading, spooledEvents } from '../reading.ts';

const fixture = fileURLToPath(new URL('fixtures/goose/sessions.sql', import.meta.url));
const SESSION = '20260921_1';

let db: DatabaseSync;
let reading: ReturnType<typeof openReading>;
beforeEach(async () => {
  const root = mkdtempSync(join(tmpdir(), 'goose-'));
  db = new DatabaseSync(join(root, 'sessions.db'));
  db.exec(`PRAGMA journal_mode = WAL; ${readFileSync(fixture, 'utf8')}`);
  reading = openReading(root, ':memory:', { agent: goose });
  await reading.read();
  return () => db.close();
});

const events = () => spooledEvents(reading.spool).get(SESSION) ?? [];
const sourcesOf = (text: string) =>
  events()
    .filter(({ payload }) => payload.text === text)
    .map(({ payload }) => payload.source as { record?: string; revision?: number });

test('a conversation rewritten under new row ids gives only its changed message', async () => {
  const before = events().length;
  db.exec(`
    CREATE TEMP TABLE kept AS SELECT * FROM messages WHERE session_id = '${SESSION}' AND message_id IS NOT NULL;
    DELETE FROM messages WHERE session_id = '${SESSION}';
    UPDATE kept SET id = id + 100, content_json = replace(content_json, 'I look.', 'I looked.');
    INSERT INTO messages SELECT * FROM kept`);
  await reading.read();
  expect(sourcesOf('Round the prices')).toHaveLength(1);
  const [first] = sourcesOf('I look.');
  expect(sourcesOf('I looked.')).toEqual([expect.objectContaining({ record: first?.record, revision: 102 })]);
  // The changed message has five events.
  expect(events()).toHaveLength(before + 5);
});

test('a message written in the same second as the last poll is captured', async () => {
  db.exec(`INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp)
    VALUES ('msg_late_1', '${SESSION}', 'user', '[{"type":"text","text":"late"}]', 1790000001)`);
  await reading.read();
  expect(sourcesOf('late')).toHaveLength(1);
});

test("Goose's folder follows its environment variables", () => {
  expect(goose.roots({ GOOSE_PATH_ROOT: '/g' }, '/home/dev')).toContain('/g/data/sessions');
  expect(goose.roots({ APPDATA: '/a' }, '/home/dev')).toContain('/a/Block/goose/data/sessions');
  expect(goose.roots({}, '/home/dev')).toEqual(['/home/dev/.local/share/goose/sessions']);
});
