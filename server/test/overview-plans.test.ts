import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findReadable } from '../store/find-sessions.ts';
import type { Db } from '../store/schema.ts';
import { findSessions } from '../store/sessions.ts';
import { findSummaries } from '../store/summaries.ts';
import { findHidden } from '../store/viewer.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { explain, nodesOf } from './plans.ts';

const SESSIONS = 5_000;
const VIEWER = { organizationId: 'org_1', userId: 'usr_1', seesAll: false };
const IDS = Array.from({ length: 20 }, (_, n) => `ses_${n * 7}`);

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
});

/** The most rows of a table that a part of PostgreSQL's plan read. */
function mostRead(rows: Record<string, unknown>[], table: string): number {
  const reads = nodesOf(rows).filter((node) => node['Relation Name'] === table);
  return Math.max(
    ...reads.map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']),
  );
}

/** Inserts sessions. */
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
  if (engine === 'postgres')
    for (const table of ['sessions']) await sql`vacuum analyze ${sql.table(table)}`.execute(db);
}
