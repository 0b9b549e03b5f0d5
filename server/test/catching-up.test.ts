import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Indexer } from '../derive/indexer.ts';
import type { Db } from '../store/schema.ts';
import { isAnyBehind } from '../store/sources.ts';
import { VERSION_HERE } from './derived.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';

/** Two whole pages, and a part of a third. */
const SESSIONS = 2_500;
const [PAGE, LONG_MS] = [1_000, 30_000];

describe.each(ENGINES)('the question whether sessions are behind on %s', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
    await fill(store);
  });
  afterAll(() => store.dispose());

  const begin = (db: Db) => {
    const derive = () => expect.unreachable();
    return new Indexer({
      db,
      thread: { derive },
      version: VERSION_HERE,
      now: Date.now,
      onError: () => expect.unreachable(),
    });
  };

  test('is answered at once with yes if the store takes long, and later with the answer of the store', async () => {
    const gate = Promise.withResolvers<void>();
    const slow = store.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        await gate.promise;
        return result;
      },
    });
    const indexer = begin(slow);
    expect(await Promise.race([indexer.isCatchingUp('org_1'), pause(LONG_MS / 6, 'late')])).toBe(true);
    gate.resolve();
    await expect.poll(() => indexer.isCatchingUp('org_1'), { timeout: LONG_MS }).toBe(false);
    await indexer.close();
  });

  test('reads only the earliest and the latest page of sessions of the organization', async () => {
    const pages: number[] = [];
    const db = store.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        pages.push(result.rows.length);
        return result;
      },
    });
    const isBehind = () => isAnyBehind(db, VERSION_HERE, 'org_1');
    expect(await isBehind()).toBe(false);
    expect(pages).toEqual([PAGE, PAGE]);
    const last = `ses_${SESSIONS}`;
    const derive = (through: number) =>
      sql`update session_facts set derived_through = ${through} where session_id = ${last}`.execute(store.db);
    await derive(99);
    expect(await isBehind()).toBe(true);
    await sql`update sessions set deleted_at = 1 where session_id = ${last}`.execute(store.db);
    expect(await isBehind()).toBe(false);
    await sql`update sessions set deleted_at = null where session_id = ${last}`.execute(store.db);
    await derive(100);
    expect(await isAnyBehind(db, VERSION_HERE + 1, 'org_1')).toBe(true);
    expect(await isAnyBehind(db, VERSION_HERE, 'org_2')).toBe(false);
  });
});

/** Inserts derived sessions, of which many were opened in the same millisecond. */
async function fill({ db, engine }: TestStore): Promise<void> {
  const times = { created_at: 0, updated_at: 0 };
  const organization = { name: 'o', status: 'active', owner_user_id: 'u', tenant_assigned: 0, ...times } as const;
  await db
    .insertInto('organizations')
    .values({ ...organization, organization_id: 'org_1', slug: 'o' })
    .execute();
  const last = sql.lit(SESSIONS);
  const numbers =
    engine === 'sqlite'
      ? sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${last}) select i from n)`
      : sql`(select i from generate_series(1, ${last}) as i)`;
  await sql`
    insert into sessions (session_id, organization_id, environment_id, installation_id, agent_id, plane, status,
      started_at, event_count, created_at, updated_at)
    select 'ses_' || i, 'org_1', 'env_1', 'ins_1', 'codex', 'live', 'completed', i, 100, i / 400, i
    from ${numbers} as n`.execute(db);
  await sql`
    insert into session_facts (session_id, organization_id, plane, started_at, version, derived_through, next_chunk,
      is_rewritten, is_final, event_count, prompts, tool_calls, failures, redactions, files_changed, lines_added,
      lines_removed, input_tokens, cached_tokens, output_tokens, duration_ms, lines_changed, tokens, interrupted, summary,
      facts, masks)
    select session_id, organization_id, plane, started_at, ${sql.lit(VERSION_HERE)}, event_count, 101,
      0, 1, event_count, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, '{}', '{}', 0
    from sessions`.execute(db);
}
