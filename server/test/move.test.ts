import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { COMMANDS } from '../commands.ts';
import { type MoveRefused, moveStore } from '../store/move.ts';
import { MOVED } from '../store/tables.ts';
import { copyStore, ENGINES, openTestStore, type TestStore } from './engines.ts';
import { openSession } from './factories.ts';
import { startTestService, testConfig } from './harness.ts';
import { createWorld, makeOriginal, type World } from './world.ts';

describe.runIf(ENGINES.includes('postgres'))('moving an embedded store to PostgreSQL', () => {
  let from: TestStore;
  let to: TestStore;
  let world: World;
  beforeAll(async () => {
    world = await makeOriginal('sqlite', {}, async ({ service, ours }) => {
      for (let batch = 0; batch < 5; batch++) {
        const text = `Grüße ${'x'.repeat(batch * 1000)} \u{1f9ea}`;
        const body = `{"events":[{"eventType":"user.message","payload":{"text":${JSON.stringify(text)},"n":1.50}}]}`;
        await service.call('POST', `/v1/sessions/${ours.sessionId}/events`, { as: ours.live, body });
      }
      const gone = await openSession(service, ours.live);
      await service.call('DELETE', `/v1/organizations/me/sessions/${gone}`, { as: ours.owner });
    });
  });
  beforeEach(async () => {
    from = await copyStore(world.service.store);
    to = await openTestStore('postgres');
  });
  afterEach(async () => {
    await from.dispose();
    await to.dispose();
  });

  const move = (onTable: Parameters<typeof moveStore>[0]['onTable'] = () => undefined) =>
    moveStore({ from, to, onTable });
  const refusal = () =>
    move().then(
      () => expect.unreachable(),
      (error: MoveRefused) => error.message,
    );

  async function eventsOn(store: TestStore): Promise<string> {
    const service = await startTestService(store.engine, {}, store);
    const path = `/v1/organizations/me/sessions/${world.ours.sessionId}/events?limit=1000`;
    const { text } = await service.call('GET', path, { as: world.ours.owner });
    expect((await service.call('GET', '/v1/secret', { as: world.ours.live })).status).toBe(200);
    await service.app.close();
    return text;
  }

  test('copies every row exactly, and the credentials of machines and people keep working', async () => {
    const told: string[] = [];
    await move((table, rows, phase) => void told.push(`${phase} ${table} ${rows}`));
    expect(told).toHaveLength(2 * MOVED.length);
    const copied = told.filter((line) => line.startsWith('copied'));
    expect(told.filter((line) => line.startsWith('compared'))).toEqual(
      copied.map((line) => line.replace('copied', 'compared')),
    );
    const before = await eventsOn(from);
    expect(before).toContain('"n":1.50');
    expect(await eventsOn(to)).toBe(before);
  });

  test('an interrupted move starts again with an empty database', async () => {
    const stop = new Error('stopped');
    const stopped = move((table) => {
      if (table === 'sessions') throw stop;
    });
    await expect(stopped).rejects.toBe(stop);
    expect(await refusal()).toContain('is not empty: settings has rows');
  });

  test('refuses a database with other content, and writes nothing to it', async () => {
    const other = await startTestService('postgres', {}, to);
    await createWorld(other);
    await other.app.close();
    const count = () =>
      sql<{ n: number }>`select count(*) as n from organizations`.execute(to.db).then(({ rows }) => rows[0]?.n);
    const before = await count();
    expect(await refusal()).toContain('is not empty');
    expect(await count()).toBe(before);
  });

  test.each([
    ['a changed value', 'update appends set created_at = created_at + 1 where first_sequence = 1'],
    ['a changed byte', 'update appends set body = set_byte(body, 9, get_byte(body, 9) # 1) where first_sequence = 1'],
    ['a missing row', 'delete from appends where first_sequence = 1'],
    [
      'a doubled row',
      "insert into links select 'copy', purpose, email, 0, 0, 0 from (values ('x', 'y')) v (purpose, email)",
    ],
  ])('reports %s in the copy with its table', async (_name, statement) => {
    const table = statement.includes('appends') ? 'appends' : 'links';
    const spoiled = move(async (name, _rows, phase) => {
      if (phase === 'copied' && name === MOVED.at(-1)) await sql.raw(statement).execute(to.db);
    });
    await expect(spoiled).rejects.toThrow(`The rows of ${table} differ between the stores`);
  });

  test('is a command, which reports missing options', async () => {
    const command = COMMANDS['migrate --from sqlite --to postgres'];
    const config = testConfig({ DATA_DIR: '/nowhere' });
    await expect(command?.(config, () => undefined, [])).rejects.toThrow(
      /DATABASE_URL is needed[\s\S]*holds no embedded store/,
    );
    await from.close();
    const lines: string[] = [];
    const given = testConfig({ DATA_DIR: from.dataDir, DATABASE_URL: to.databaseUrl as string });
    await command?.(given, (line) => lines.push(line), []);
    expect(lines.at(-1)).toContain('Everything was copied');
  });
});
