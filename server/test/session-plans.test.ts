import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listSessions, type SessionFilter } from '../store/sessions.ts';
import { asOrganization } from '../store/tenant.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { explain, nodesOf } from './plans.ts';

const SESSIONS = 20_000;
const LIMIT = 51;
const VIEWER = { organizationId: 'org_1', userId: 'usr_1', seesAll: false };

const FILTERS = {
  none: [{}, 'sessions_by_plane'],
  environment: [{ environmentId: 'env_1' }, 'sessions_by_environment'],
  agent: [{ agentId: 'codex' }, 'sessions_by_agent'],
  'environment and agent': [{ environmentId: 'env_1', agentId: 'codex' }, 'sessions_by_environment_and_agent'],
  'a rare environment': [{ environmentId: 'env_rare' }, 'sessions_by_environment'],
  'a rare agent': [{ agentId: 'amp' }, 'sessions_by_agent'],
  'a rare agent of an environment': [{ environmentId: 'env_1', agentId: 'amp' }, 'sessions_by_environment_and_agent'],
} satisfies Record<string, [Partial<SessionFilter>, string]>;

const CASES = (['live', 'test', 'all'] as const).flatMap((plane) =>
  Object.entries(FILTERS).map(([name, [filter, index]]) => ({ plane, name, filter, index })),
);

describe.each(ENGINES)('a page of many sessions on %s', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
    await fill(store);
  });
  afterAll(() => store.dispose());

  test.each(CASES)('of $plane sessions with $name reads $index in order', async ({ plane, name, filter, index }) => {
    const asked = { viewer: VIEWER, plane, offset: 0, limit: LIMIT, ...filter };
    // Under row-level security, as for a request.
    const rows = await asOrganization('org_1', () => explain(store, (db) => listSessions(db, asked)), VIEWER.userId);
    const planes = plane === 'all' ? 2 : 1;
    if (engine === 'sqlite') {
      const details = rows.map(({ detail }) => String(detail));
      const columns = ['organization_id', 'environment_id', 'agent_id', 'plane'].filter((column) =>
        CONDITIONS[index]?.includes(column),
      );
      const found = `SEARCH sessions USING COVERING INDEX ${index} (${columns.map((column) => `${column}=?`).join(' AND ')})`;
      const looked = 'SEARCH sessions USING INDEX sqlite_autoindex_sessions_1 (session_id=?)';
      const reads = details.filter((detail) => /\bsessions\b/.test(detail));
      expect(reads).toEqual([...Array<string>(planes).fill(found), looked]);
      // The plan sorts at most the page.
      expect(details.filter((detail) => detail.startsWith('USE TEMP B-TREE')).length).toBeLessThanOrEqual(1);
      expect(details.includes('MERGE (UNION ALL)')).toBe(plane === 'all');
      return;
    }
    const reads = nodesOf(rows).filter((node) => node['Relation Name'] === 'sessions');
    const pages = reads.filter((node) => node['Index Name'] === index);
    const looked = reads.filter((node) => node['Index Name'] === 'sessions_pkey');
    expect(pages).toHaveLength(planes);
    expect(pages.length + looked.length, JSON.stringify(reads)).toBe(reads.length);
    for (const node of pages) {
      // The index also has the visibility: no row is read for it, and no row of the team is read in vain.
      expect(node['Node Type']).toBe('Index Only Scan');
      expect(node.Filter).toMatch(/visibility <> 'private'::text/);
      expect(node['Rows Removed by Filter'] ?? 0).toBe(0);
      expect(node['Actual Rows']).toBeLessThanOrEqual(LIMIT);
    }
    expect(pages.some((node) => node['Actual Rows'] > 0)).toBe(plane !== 'test' || !name.includes('rare'));
    for (const node of looked) expect(node['Actual Loops']).toBeLessThanOrEqual(LIMIT);
  });
});

const CONDITIONS: Record<string, string[]> = {
  sessions_by_plane: ['organization_id', 'plane'],
  sessions_by_environment: ['organization_id', 'environment_id', 'plane'],
  sessions_by_agent: ['organization_id', 'agent_id', 'plane'],
  sessions_by_environment_and_agent: ['organization_id', 'environment_id', 'agent_id', 'plane'],
};

/**
 * Inserts sessions of many machines and agents, with one rare machine and one rare agent. One session in a hundred is on the test
 * plane.
 */
async function fill({ db, engine }: TestStore): Promise<void> {
  const organization = {
    name: 'o',
    status: 'active',
    owner_user_id: 'u',
    tenant_assigned: 0,
    created_at: 0,
    updated_at: 0,
  } as const;
  for (const organization_id of ['org_1', 'org_2']) {
    await db
      .insertInto('organizations')
      .values({ ...organization, organization_id, slug: organization_id })
      .execute();
  }
  const times = { created_at: 0, updated_at: 0 };
  const machine = { platform: 'linux', cli_version: '1', status: 'active', last_seen_at: 0, ...times } as const;
  for (const environment_id of [...Array.from({ length: 7 }, (_, i) => `env_${i}`), 'env_rare']) {
    await db
      .insertInto('environments')
      .values({ ...machine, environment_id, organization_id: 'org_1', hostname: environment_id })
      .execute();
  }
  await db
    .insertInto('installations')
    .values({ installation_id: 'ins_1', organization_id: 'org_1', agent_id: 'codex', status: 'active', ...times })
    .execute();
  const numbers =
    engine === 'sqlite'
      ? sql`(with recursive n(i) as (select 0 union all select i + 1 from n where i < ${sql.lit(SESSIONS - 1)}) select i from n)`
      : sql`(select i from generate_series(0, ${sql.lit(SESSIONS - 1)}) as i)`;
  await sql`
    insert into sessions (session_id, organization_id, environment_id, installation_id, agent_id, plane, status,
      started_at, event_count, created_at, updated_at)
    select 'ses_' || i, case when i % 5 = 0 then 'org_2' else 'org_1' end,
      case when i % 5001 = 1 then 'env_rare' else 'env_' || (i % 7) end, 'ins_1', case when i % 4001 = 8 then 'amp' when i % 3 = 0 then 'goose' else 'codex' end,
      case when i % 100 = 99 then 'test' else 'live' end, 'completed', i, 0, i, i
    from ${numbers} as n`.execute(db);
  await sql`analyze sessions`.execute(db);
}
