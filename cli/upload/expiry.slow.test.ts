import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { startTestService } from '../../server/test/harness.ts';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { run as capture } from '../test/program.ts';
import { type RealService, startRealService } from '../test/real-service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-03-01T09:00:00.000Z');

/** A session whose turns are an hour apart. */
async function setUp() {
  const real = await startRealService();
  const file = join(real.home, '.claude/projects/p', `${sessionId(1)}.jsonl`);
  write(file, '');
  const timeOf = (turn: number) => START + turn * HOUR_MS;
  let said = 0;
  return {
    ...real,
    timeOf,
    say(...texts: string[]): void {
      for (const text of texts) {
        const timestamp = new Date(timeOf(said)).toISOString();
        appendFileSync(file, `${prompt(1, said++, text, { timestamp })}\n`);
      }
    },
    texts: async () => (await real.events()).flatMap(({ payload }) => payload.text ?? []),
    /** Expires all stored events, as if the last of them had come at this time. */
    expire: (lastEventAt: number) => expire(real, lastEventAt),
    /** Imports with the state folder of a machine that has lost its own. */
    importAnew: () => capture(['import'], { ...real.options, variables: { CAPTURE_HOME: makeFolder() } }),
  };
}

async function expire({ service: { store } }: RealService, lastEventAt: number): Promise<void> {
  await store.db.updateTable('sessions').set({ created_at: lastEventAt, updated_at: lastEventAt }).execute();
  await store.db.updateTable('appends').set({ created_at: lastEventAt }).execute();
  const next = await startTestService('sqlite', { RETENTION_DAYS: 29 }, store);
  const left = () => sql<{ n: number }>`select count(*) as n from sessions`.execute(store.db);
  await vi.waitFor(async () => expect((await left()).rows[0]?.n).toBe(0), 20_000);
  await next.app.close();
}

test('later events of an expired session go to a session that continues it', async () => {
  const { run, service, say, texts, expire, timeOf, verify } = await setUp();
  say('old 1', 'old 2');
  expect(await run('import')).toMatchObject({ exitCode: 0 });
  expect(await texts()).toEqual(['old 1', 'old 2']);
  const [old] = await service.store.db.selectFrom('sessions').select('client_key').execute();
  await expire(timeOf(1));
  expect(await run('import')).toMatchObject({ exitCode: 0 });
  expect(await texts()).toEqual([]);

  say('new 1');
  expect(await run('import')).toMatchObject({ exitCode: 0, stderr: '' });
  say('new 2');
  expect(await run('import')).toMatchObject({ exitCode: 0 });
  expect(await texts()).toEqual(['new 1', 'new 2']);
  const [first] = await service.store.db.selectFrom('sessions').select('continues_key').orderBy('session_id').execute();
  expect(first?.continues_key).toBe(old?.client_key);
  expect(await verify()).toMatchObject({ exitCode: 0, problems: {} });
});

test('an open session that expired takes nothing, and its waiting events go to another', async () => {
  const { options, service, say, texts, expire, timeOf } = await setUp();
  // The session is not completed, because its agent may run.
  const justNow = { ...options, context: { now: () => timeOf(0) + 1000 } };
  say('old 1');
  expect(await capture(['import'], justNow)).toMatchObject({ exitCode: 0 });
  expect(await service.store.db.selectFrom('sessions').select('status').execute()).toEqual([{ status: 'active' }]);
  // The machine was offline. It never sent this record, which is as old as the sent ones.
  say('waited');
  await expire(timeOf(1));
  expect(await capture(['import'], justNow)).toMatchObject({ exitCode: 0 });
  expect(await texts()).toEqual(['waited']);
});

test('an answer without the time of the last event covers everything written until now', async () => {
  const { run, options, say, texts, expire, timeOf } = await setUp();
  say('old 1');
  expect(await run('import')).toMatchObject({ exitCode: 0 });
  await expire(timeOf(0));
  const withoutTime: typeof fetch = async (...request) => {
    const answer = await fetch(...request);
    const body = (await answer.text()).replaceAll(/,"lastEventAt":"[^"]*"/g, '');
    return new Response(body === '' ? null : body, answer);
  };
  const now = () => timeOf(0) + 10 * HOUR_MS;
  const lost = { ...options, variables: { CAPTURE_HOME: makeFolder() }, context: { now, fetch: withoutTime } };
  say('old 2');
  expect(await capture(['import'], lost)).toMatchObject({ exitCode: 0 });
  expect(await texts()).toEqual([]);
});

test('a machine that lost its state sends no expired events', async () => {
  const { run, say, texts, expire, timeOf, importAnew } = await setUp();
  say('old 1', 'old 2');
  expect(await run('import')).toMatchObject({ exitCode: 0 });
  await expire(timeOf(1));
  expect(await importAnew()).toMatchObject({ exitCode: 0 });
  expect(await texts()).toEqual([]);
  say('new');
  expect(await importAnew()).toMatchObject({ exitCode: 0 });
  expect(await importAnew()).toMatchObject({ exitCode: 0 });
  expect(await texts()).toEqual(['new']);
});

test('reading a session anew does not bring back expired events', async () => {
  const { options, say, texts, expire, timeOf } = await setUp();
  const variables = { CAPTURE_HOME: makeFolder() };
  const here = { ...options, variables };
  say('old');
  // The session is completed, because its agent has written nothing for long.
  const later = Date.now() + 48 * HOUR_MS;
  const ended = await capture(['import'], { ...here, context: { now: () => later } });
  expect(ended).toMatchObject({ exitCode: 0 });
  await expire(timeOf(0));
  const spool = openSpool(join(variables.CAPTURE_HOME, 'spool.db'));
  expect(spool.sessions.list()).toMatchObject([{ state: 'closed', generation: 1 }]);
  spool.transact(() => spool.readFromStart(spool.sessions.list().map(({ id }) => id)));
  spool.close();
  say('new');
  expect(await capture(['import'], here)).toMatchObject({ exitCode: 0 });
  expect(await texts()).toEqual(['new']);
});

test('a session that a person deletes after it expired is no longer captured', async () => {
  const { run, say, texts, expire, timeOf, importAnew } = await setUp();
  say('old');
  expect(await run('import')).toMatchObject({ exitCode: 0 });
  await expire(timeOf(0));
  expect(await run('delete', sessionId(1), '--yes')).toMatchObject({ exitCode: 0 });
  say('new');
  expect(await run('import')).toMatchObject({ exitCode: 0 });
  expect(await importAnew()).toMatchObject({ exitCode: 0 });
  expect(await texts()).toEqual([]);
});
