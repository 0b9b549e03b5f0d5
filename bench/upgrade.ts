import { setTimeout } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { changesOf, migrate, type SchemaChange } from '../server/store/migrate.ts';
import { openStore, type Store } from '../server/store/open.ts';
import { openPostgres, postgresDialect, SCHEMA_SETTINGS } from '../server/store/postgres.ts';
import { onBothEngines } from './postgres.ts';
import { startMeasured, type Where } from './process.ts';
import { median, type Row } from './report.ts';
import { type Seed, seed, seedEvents, seedSessions } from './seed.ts';
import { createEvents } from './text.ts';

/** Set `BENCH_EVENTS=100000` for a quick look. */
const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const EVENTS_OF_SESSION = 1_000;
const makeEvent = createEvents(11);

/** Changes that a later version might make: columns of the two largest tables, and an index over each. */
const LATER: readonly SchemaChange[] = [
  {
    name: '9001-columns',
    isAdditive: true,
    statements: ['alter table sessions add column later text', 'alter table appends add column later integer'],
  },
  { name: '9002-appends', isAdditive: true, index: 'appends_later', on: 'appends (organization_id, created_at)' },
  { name: '9003-sessions', isAdditive: true, index: 'sessions_later', on: 'sessions (organization_id, later)' },
];

/**
 * Measures how long an upgrade delays appends. On PostgreSQL a replica continues to answer while the schema changes; the service
 * upgrades an embedded store before it answers.
 */
export const benchUpgrade = (): Promise<Row[]> => onBothEngines(measure);

async function measure(engine: string, where: Where): Promise<Row[]> {
  const seeded = await seed(where, 'http://127.0.0.1', 'owner', fill);
  const what = `upgrade of a store with ${EVENTS.toLocaleString('en')} events, ${engine}: longest wait of an append`;
  const { longest, detail } =
    where.databaseUrl === undefined ? await upgradeFile(where) : await upgradeBeside(where, where.databaseUrl, seeded);
  return [{ what, figure: longest, unit: 'ms', goal: '≤ 1000', detail }];
}

async function fill(store: Store, seeded: Seed): Promise<{ sessionId: string }> {
  const ids = await seedSessions(store, seeded, EVENTS / EVENTS_OF_SESSION);
  const [first = '', second = ''] = ids;
  await seedEvents(store, seeded, first, EVENTS_OF_SESSION, makeEvent);
  await store.db.transaction().execute(async (transaction) => {
    if (store.engine === 'postgres') await sql`set local statement_timeout = 0`.execute(transaction);
    await sql`
      insert into appends (session_id, first_sequence, last_sequence, organization_id, append_id, created_at, codec, body)
      select s.session_id, a.first_sequence, a.last_sequence, a.organization_id, a.append_id, a.created_at, a.codec, a.body
      from appends a cross join sessions s where s.session_id not in (${first}, ${second})`.execute(transaction);
    await sql`update sessions set event_count = ${EVENTS_OF_SESSION} where session_id <> ${second}`.execute(
      transaction,
    );
  });
  return { sessionId: second };
}

async function upgradeFile(where: Where) {
  const store = await openStore({ ...where, onError: console.error });
  const started = performance.now();
  await migrate(store.db, 'sqlite', [...changesOf('sqlite'), ...LATER]);
  const longest = performance.now() - started;
  await store.close();
  return { longest, detail: 'the whole upgrade, before the service answers' };
}

async function upgradeBeside(where: Where, databaseUrl: string, { secret, sessionId }: Seed & { sessionId: string }) {
  const service = await startMeasured(where);
  const pool = openPostgres(databaseUrl, console.error, { patience: { silentMs: 0 }, settings: SCHEMA_SETTINGS });
  const db = new Kysely({ dialect: postgresDialect(pool) });
  const append = async () => {
    const started = performance.now();
    const { status } = await fetch(`${service.url}/v1/sessions/${sessionId}/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ events: [makeEvent(1024)] }),
    });
    if (status !== 200) throw new Error(`the service answered an append with ${status}`);
    return performance.now() - started;
  };
  try {
    const before: number[] = [];
    for (let index = 0; index < 50; index++) before.push(await append());
    let isDone = false;
    const started = performance.now();
    const upgrade = migrate(db, 'postgres', [...changesOf('postgres'), ...LATER]).finally(() => {
      isDone = true;
    });
    const waits: number[] = [];
    while (!isDone) {
      waits.push(await append());
      await setTimeout(5);
    }
    await upgrade;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const detail = `${waits.length} appends in ${seconds} s of upgrade, median ${median(waits).toFixed(1)} ms; before it ${median(before).toFixed(1)} ms`;
    return { longest: Math.max(...waits), detail };
  } finally {
    await db.destroy();
    await service.stop();
  }
}
