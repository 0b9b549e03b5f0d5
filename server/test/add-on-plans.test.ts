import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAddOns, readCallersOf, readTokensOf } from '../store/add-ons.ts';
import type { Db } from '../store/schema.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { explain, nodesOf } from './plans.ts';

const ROWS = 20_000;
const ADD_ONS = ROWS / 50;
const FILTER = { organizationId: 'org_1', planes: ['live'], from: '2026-11-01', to: '2026-11-30' } as const;

const VIEWER = { organizationId: 'org_1', userId: 'usr_1', seesAll: false };

const QUERIES: [name: string, query: (db: Db) => Promise<unknown>][] = [
  ['the list of add-ons', (db) => findAddOns(db, VIEWER, FILTER, 300)],
  ['the list of one kind', (db) => findAddOns(db, VIEWER, { ...FILTER, kind: 'mcp' }, 300)],
  ['callers', (db) => readCallersOf(db, FILTER, ['name 0'], 'agent_id', 100)],
  ['tokens', (db) => readTokensOf(db, FILTER, ['name 0'])],
];

describe.each(ENGINES)('among many rows of days on %s', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
    await fill(store);
  });
  afterAll(() => store.dispose());

  test.each(QUERIES)('%s: only the rows of add-ons are read', async (_, query) => {
    const rows = await explain(store, query);
    if (engine === 'sqlite') {
      const reads = rows.map(({ detail }) => String(detail)).filter((detail) => /\bsession_days\b/.test(detail));
      expect(reads).toHaveLength(1);
      expect(reads[0]).toContain('USING INDEX session_days_of_add_ons (organization_id=? AND plane=? AND day>?');
      return;
    }
    const nodes = nodesOf(rows).filter((node) => node['Index Name']?.startsWith('session_days'));
    expect(nodes.map((node) => node['Index Name'])).toEqual(['session_days_of_add_ons']);
    expect((nodes[0]?.['Actual Rows'] ?? 0) + (nodes[0]?.['Rows Removed by Filter'] ?? 0)).toBeLessThanOrEqual(ADD_ONS);
  });
});

async function fill({ db, engine }: TestStore): Promise<void> {
  const isAddOn = sql`n % 50 = 0`;
  await sql`
    with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${sql.lit(ROWS - 1)})
    insert into session_days (session_id, organization_id, plane, day, kind, name, agent_id, sessions, prompts, tool_calls, failures,
      input_tokens, cached_tokens, cache_write_tokens, output_tokens, unpriced_tokens, cost, last_used_at, is_listed)
    select 'ses_' || n, 'org_1', 'live', '2026-11-' || cast(10 + n % 20 as text), case when ${isAddOn} then 'mcp' else 'tool' end,
      'name ' || (n % 100), 'codex', 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, case when ${isAddOn} then 1 end, 0
    from numbers`.execute(db);
  if (engine === 'postgres') await sql`analyze session_days`.execute(db);
}
