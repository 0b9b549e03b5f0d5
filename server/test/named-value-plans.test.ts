import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findNamedValues } from '../store/named-values.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { explain, nodesOf } from './plans.ts';

const SESSIONS = 20_000;
const REPOSITORIES = 40;
const VIEWER = { organizationId: 'org_1', userId: 'usr_1', seesAll: false };
const VALUES = Array.from({ length: REPOSITORIES }, (_, n) => `git.test/o/r${n}`);

describe.each(ENGINES)('which repositories a member may know, among many sessions on %s', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
    await fill(store);
  });
  afterAll(() => store.dispose());

  const find = () => findNamedValues(store.db, VIEWER, 'repository', VALUES);

  test('is looked up until the first session of each', async () => {
    expect([...(await find())].sort()).toEqual(VALUES.toSorted());
    const rows = await explain(store, (db) => findNamedValues(db, VIEWER, 'repository', VALUES));
    if (engine === 'sqlite') {
      const details = rows.map(({ detail }) => String(detail)).join('\n');
      expect(details).toContain('session_values_by_name (organization_id=? AND field=? AND name=?)');
      expect(details).not.toContain('SCAN session_values');
      return;
    }
    const reads = nodesOf(rows).filter((node) => node['Relation Name'] === 'session_values');
    const read = reads.map(
      (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    );
    expect(Math.max(...read)).toBeLessThanOrEqual(REPOSITORIES);
  });
});

async function fill({ db, engine }: TestStore): Promise<void> {
  const numbers = sql`
    with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${sql.lit(SESSIONS - 1)})`;
  await sql`
    insert into organizations (organization_id, name, slug, status, owner_user_id, tenant_assigned, created_at, updated_at)
    values ('org_1', 'Robots', 'robots', 'active', 'usr_0', 1, 1, 1)`.execute(db);
  await sql`
    ${numbers} insert into sessions (session_id, organization_id, environment_id, installation_id, agent_id, status, plane, started_at,
      created_at, updated_at, event_count, visibility)
    select 'ses_' || n, 'org_1', 'env_1', 'ins_1', 'codex', 'active', 'live', n, n, n, 0, 'team' from numbers`.execute(
    db,
  );
  const repository = sql`'r' || (n % ${sql.lit(REPOSITORIES)})`;
  await sql`
    ${numbers} insert into session_values (session_id, organization_id, field, name, path)
    select 'ses_' || n, 'org_1', 'repository', ${repository}, 'git.test/o/' || ${repository} from numbers`.execute(db);
  if (engine === 'postgres') {
    for (const table of ['sessions', 'session_values']) await sql`analyze ${sql.table(table)}`.execute(db);
  }
}
