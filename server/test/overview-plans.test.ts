import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findReadable } from '../store/find-sessions.ts';
import type { Db } from '../store/schema.ts';
import { findSessions } from '../store/sessions.ts';
import { findSummaries } from '../store/summaries.ts';
import { sumDay } from '../store/summed-days.ts';
import { findLargest, readCalls } from '../store/usage.ts';
import { findHidden } from '../store/viewer.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { explain, nodesOf, watchStatements } from './plans.ts';

const SESSIONS = 5_000;
const MACHINES = 50;
const DAYS = 200;
const VIEWER = { organizationId: 'org_1', userId: 'usr_1', seesAll: false };
const IDS = Array.from({ length: 20 }, (_, n) => `ses_${n * 7}`);
const WEEK = { organizationId: 'org_1', planes: ['live'] as const, from: '2026-01-10', to: '2026-01-16' };

describe.each(ENGINES)('in a large organization on %s', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
    await fill(store);
  });
  afterAll(() => store.dispose());

  const byIds: [string, (db: Db) => Promise<unknown>][] = [
    ['findSessions', (db) => findSessions(db, VIEWER, IDS)],
    ['findSummaries', (db) => findSummaries(db, VIEWER, IDS)],
    ['findReadable', (db) => findReadable(db, VIEWER, IDS)],
    ['findHidden', (db) => findHidden(db, VIEWER, IDS)],
  ];
  test.each(byIds)('%s looks up each session by its id', async (_, find) => {
    const rows = await explain(store, find);
    if (engine === 'sqlite') {
      const details = rows.map(({ detail }) => String(detail));
      expect(details).toContain('SEARCH sessions USING INDEX sqlite_autoindex_sessions_1 (session_id=?)');
      return;
    }
    expect(mostRead(rows, 'sessions')).toBeLessThanOrEqual(IDS.length);
  });

  const sums: [string, (db: Db) => Promise<unknown>][] = [
    ['the largest values', (db) => findLargest(db, WEEK, 'environment', 20)],
    ['the calls', (db) => readCalls(db, WEEK, 'hour', 168)],
  ];
  test.each(sums)('%s of a week are read from the rows of the week', async (_, read) => {
    const rows = await explain(store, read);
    if (engine === 'sqlite') {
      const details = rows.map(({ detail }) => String(detail));
      expect(details).toContain(
        'SEARCH usage_days USING COVERING INDEX usage_days_by_day (organization_id=? AND plane=? AND dimension=? AND day>? AND day<?)',
      );
      return;
    }
    expect(mostRead(rows, 'usage_days')).toBeLessThanOrEqual(7 * MACHINES);
  });

  test('the largest values of a day and of many days are the same, whichever way they are read', async () => {
    const long = { ...WEEK, from: '2026-01-01', to: '2026-12-31' };
    expect(await findLargest(store.db, long, 'environment', 3)).toEqual(['env_49', 'env_48', 'env_47']);
    expect(await findLargest(store.db, WEEK, 'environment', 3)).toEqual(['env_49', 'env_48', 'env_47']);
  });

  test('a day is summed without reading other days', async () => {
    let removal = '';
    const watched = watchStatements(store.db, (text) => {
      if (/^\s*delete from usage_days/.test(text)) removal = text;
    });
    const day = { organization_id: 'org_1', plane: 'live', day: '2026-01-12' } as const;
    await sql`insert into summed_days (organization_id, plane, day, changes, summed) values ('org_1', 'live', ${day.day}, 1, 0)`.execute(
      store.db,
    );
    expect(await sumDay(watched, { ...day, changes: 1 })).toBe(true);
    const { rows } = await sql<{ day: string; count: number }>`
      select day, count(*) as count from usage_days where day between '2026-01-11' and '2026-01-13' group by day order by day`.execute(
      store.db,
    );
    expect(rows.map(({ day }) => day)).toEqual(['2026-01-11', '2026-01-13']);
    // PostgreSQL decides by its statistics, and the test has too few rows for it to prefer an index.
    if (engine === 'postgres') return;
    const plan = await store.db.executeQuery<{ detail: string }>(CompiledQuery.raw(`explain query plan ${removal}`));
    const details = plan.rows.map(({ detail }) => detail);
    expect(details.filter((detail) => detail.includes('usage_days')).every((detail) => detail.includes('day=?'))).toBe(
      true,
    );
  });
});

/** The most rows of a table that a part of PostgreSQL's plan read. */
function mostRead(rows: Record<string, unknown>[], table: string): number {
  const reads = nodesOf(rows).filter((node) => node['Relation Name'] === table);
  return Math.max(
    ...reads.map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']),
  );
}

/** Inserts sessions, and the sums of machines and of one hour for many days. */
async function fill({ db, engine }: TestStore): Promise<void> {
  const numbers = (count: number) => sql`
    with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${sql.lit(count - 1)})`;
  await sql`
    insert into organizations (organization_id, name, slug, status, owner_user_id, tenant_assigned, created_at, updated_at)
    values ('org_1', 'Robots', 'robots', 'active', 'usr_0', 1, 1, 1)`.execute(db);
  await sql`
    ${numbers(SESSIONS)} insert into sessions (session_id, organization_id, environment_id, installation_id, agent_id, status,
      plane, started_at, created_at, updated_at, event_count, visibility)
    select 'ses_' || n, 'org_1', 'env_1', 'ins_1', 'codex', 'active', 'live', n, n, n, 0, 'team' from numbers`.execute(
    db,
  );
  for (let day = 0; day < DAYS; day++) {
    const date = new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
    for (const [dimension, count] of [
      ['environment', MACHINES],
      ['hour', 1],
    ] as const) {
      await sql`
        ${numbers(count)} insert into usage_days (organization_id, plane, dimension, day, value, week, sessions, prompts,
          tool_calls, failures, input_tokens, cached_tokens, output_tokens, unpriced_tokens, cost)
        select 'org_1', 'live', ${sql.lit(dimension)}, ${sql.lit(date)}, 'env_' || n, ${sql.lit(date)}, n, 0, 0, 0, 0, 0, 0, 0, 0
        from numbers`.execute(db);
    }
  }
  if (engine === 'postgres')
    for (const table of ['sessions', 'usage_days']) await sql`vacuum analyze ${sql.table(table)}`.execute(db);
}
