import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ORDERS } from '../../contract/names.ts';
import {
  type Among,
  findByTrait,
  findByValue,
  findEnd,
  findInOrder,
  namesFrom,
  type SessionsWanted,
  type Trait,
} from '../store/find-sessions.ts';
import type { Db } from '../store/schema.ts';
import { bitOf, SIGNATURE_BYTES } from '../store/signature.ts';
import { byIndex, findChunks } from '../store/word-index.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { explain, nodesOf } from './plans.ts';

const SESSIONS = 20_000;
const NEXT = 200;
/** Of each of the sessions that have chunks, 16 in a row of the index. */
const CHUNKS = 320;

const VIEWER = { organizationId: 'org_1', userId: 'usr_1', seesAll: false };

const wanted = (more: Partial<SessionsWanted> = {}): SessionsWanted => ({
  ...{ viewer: VIEWER, isOfContent: false, plane: 'live', order: 'started', direction: 'desc' },
  values: [],
  ...more,
});

const TOOL = { field: 'tool', alternatives: [{ name: 'bash' }] } as const;
/** A day on which every session was active. */
const DAY = { field: 'half_hour', alternatives: [{ name: '2026-11-27t11:00', end: '2026-11-28t11:00' }] } as const;
const AFTER = { value: 500, sessionId: 'ses_00000500' };

const CASES = [
  ...ORDERS.flatMap((order) =>
    (['desc', 'asc'] as const).flatMap((direction) => [
      { name: `${order} ${direction}`, more: { order, direction }, after: undefined },
      { name: `${order} ${direction}, after a position`, more: { order, direction }, after: AFTER },
    ]),
  ),
  { name: 'a tool that every session has', more: { values: [TOOL] }, after: undefined },
  { name: 'a day on which every session was active', more: { values: [DAY] }, after: undefined },
  { name: 'failed sessions', more: { failed: true }, after: undefined },
  { name: 'an agent', more: { agentIds: ['codex'] }, after: AFTER },
  { name: 'a machine', more: { environmentIds: ['env_1'] }, after: undefined },
  { name: 'a secret', more: { secretIds: ['sec_1'] }, after: undefined },
  { name: 'a person', more: { userIds: ['usr_1'] }, after: AFTER },
  { name: 'nobody', more: { userIds: [null] }, after: undefined },
  { name: 'a time', more: { from: 5_000_000, before: 9_000_000 }, after: undefined },
] satisfies { name: string; more: Partial<SessionsWanted>; after: typeof AFTER | undefined }[];

describe.each(ENGINES)('a search among many sessions on %s', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
    await fill(store);
  });
  afterAll(() => store.dispose());

  /** Expects every table to be read through an index, and on PostgreSQL at most this many rows. */
  async function expectFew(query: Parameters<typeof explain>[1], most: number): Promise<void> {
    const rows = await byIndex(store.db, (db) => explain({ ...store, db }, query));
    if (engine === 'sqlite') {
      const details = rows.map(({ detail }) => String(detail));
      expect(
        details.filter((detail) => /^SCAN (?!looked|given|json_each|chunk_words VIRTUAL TABLE INDEX 0:M)/.test(detail)),
      ).toEqual([]);
      return;
    }
    for (const node of nodesOf(rows)) {
      const read = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
      expect(read, JSON.stringify(node)).toBeLessThanOrEqual(most);
    }
  }

  test.each(CASES)('$name: reads the next sessions of the order and no others', async ({ more, after }) => {
    await expectFew((db) => findInOrder(db, wanted(more), after, { next: NEXT }, 51), NEXT);
    await expectFew((db) => findEnd(db, wanted(more), after, NEXT), NEXT);
  });

  test('looks up a range of names among the values of each session', async () => {
    const two = { ...DAY, alternatives: [DAY.alternatives[0], { name: '2026-11-01t11:00', end: '2026-11-02t11:00' }] };
    for (const value of [DAY, two, { field: 'tool', alternatives: [namesFrom('ba')] } as const]) {
      const query = (db: Db) => findInOrder(db, wanted({ values: [value] }), undefined, { next: NEXT }, 51);
      await expectFew(query, NEXT);
      if (engine === 'sqlite') {
        const details = (await explain(store, query)).map(({ detail }) => String(detail));
        expect(details.filter((detail) => detail.includes('session_values'))).toEqual([
          // SQLite uses a range of the key if there is one range of names.
          expect.stringMatching(/\(session_id=\? AND field=\?( AND name>\? AND name<\?)?\)/),
        ]);
      }
    }
  });

  test('looks up the gathered sessions in any order', async () => {
    const ids = Array.from({ length: 300 }, (_, n) => `ses_${String(n * 7).padStart(8, '0')}`);
    const among: Among = { ids };
    for (const order of ORDERS) await expectFew((db) => findInOrder(db, wanted({ order }), undefined, among, 51), 300);
  });

  test('gathers sessions with a rare trait from an index of its own', async () => {
    const rare: [Trait, Partial<SessionsWanted>][] = [
      ['agentIds', { agentIds: ['amp'] }],
      ['environmentIds', { environmentIds: ['env_rare'] }],
      ['secretIds', { secretIds: ['sec_rare'] }],
      ['userIds', { userIds: ['usr_rare', null] }],
      ['statuses', { statuses: ['failed'] }],
      ['time', { from: 19_900_000 }],
      ['failed', {}],
    ];
    for (const [trait, more] of rare) {
      expect(await findByTrait(store.db, wanted(more), ['live'], trait, 51), trait).not.toEqual([]);
      await expectFew((db) => findByTrait(db, wanted(more), ['live'], trait, 51), 400);
    }
    await expectFew((db) => findByValue(db, 'org_1', { field: 'tool', alternatives: [namesFrom('rar')] }, 51), 400);
  });

  test('reads the index rows of a word once, and the chunks of the session once', async () => {
    const searched = { organizationId: 'org_1', prefixes: ['abcd'] };
    const words = [[[{ word: 'frequent', open: false }]]];
    const query = (db: Db) => findChunks(db, searched, ['ses_00000003'], [{ place: 0, words }]);
    expect(await byIndex(store.db, query)).toHaveLength(CHUNKS / 2);
    await expectFew(query, CHUNKS);
  });

  test('stops as soon as it knows that many prefixes are not rare', async () => {
    const beginnings = Array.from({ length: 24 }, (_, n) => namesFrom('bash'.slice(0, 1 + (n % 3))));
    const ending = '%/no/bash';
    for (const [alternatives, most] of [
      [beginnings, 51],
      [beginnings.map((one) => ({ ...one, ending })), 201],
    ] as const) {
      expect(await findByValue(store.db, 'org_1', { field: 'tool', alternatives }, 50)).toBeUndefined();
      await expectFew((db) => findByValue(db, 'org_1', { field: 'tool', alternatives }, 50), most);
    }
    const rare = [namesFrom('rar')];
    const found = await findByValue(store.db, 'org_1', { field: 'tool', alternatives: [...rare, ...rare] }, 200);
    expect(found).toHaveLength(67);
  });
});

/** Inserts sessions with facts and one tool each; a few sessions have a rare trait. */
async function fill({ db, engine }: TestStore): Promise<void> {
  const times = { created_at: 0, updated_at: 0 };
  const organization = { name: 'o', status: 'active', owner_user_id: 'u', tenant_assigned: 0, ...times } as const;
  await db
    .insertInto('organizations')
    .values({ ...organization, organization_id: 'org_1', slug: 'o' })
    .execute();
  const machine = { platform: 'linux', cli_version: '1', status: 'active', last_seen_at: 0, ...times } as const;
  for (const environment_id of ['env_0', 'env_1', 'env_2', 'env_rare']) {
    const row = { ...machine, environment_id, organization_id: 'org_1', hostname: environment_id };
    await db.insertInto('environments').values(row).execute();
  }
  const installation = {
    installation_id: 'ins_1',
    organization_id: 'org_1',
    agent_id: 'codex',
    status: 'active',
  } as const;
  await db
    .insertInto('installations')
    .values({ ...installation, ...times })
    .execute();
  const isSqlite = engine === 'sqlite';
  const last = sql.lit(SESSIONS - 1);
  const numbers = isSqlite
    ? sql`(with recursive n(i) as (select 0 union all select i + 1 from n where i < ${last}) select i from n)`
    : sql`(select i from generate_series(0, ${last}) as i)`;
  const digits = isSqlite ? sql`printf('%08d', i)` : sql`lpad(i::text, 8, '0')`;
  await sql`
    insert into sessions (session_id, organization_id, environment_id, installation_id, agent_id, secret_id, plane, status,
      user_id, started_at, event_count, created_at, updated_at)
    select 'ses_' || ${digits}, 'org_1', case when i % 501 = 1 then 'env_rare' else 'env_' || (i % 3) end, 'ins_1',
      case when i % 401 = 8 then 'amp' else 'codex' end, case when i % 601 = 2 then 'sec_rare' else 'sec_' || (i % 3) end, 'live', case when i % 997 = 5 then 'failed' else 'completed' end,
      case when i % 701 = 9 then 'usr_rare' when i % 301 = 4 then null else 'usr_' || (i % 3) end, i * 1000, 100, i, i
    from ${numbers} as n`.execute(db);
  const number = sql`(started_at / 1000)`;
  await sql`
    insert into session_facts (session_id, organization_id, plane, started_at, version, derived_through, next_chunk, is_rewritten, is_final,
      event_count, prompts, tool_calls, failures, redactions, files_changed, lines_added, lines_removed, input_tokens,
      cached_tokens, output_tokens, duration_ms, lines_changed, tokens, cost, interrupted, summary, facts, masks)
    select session_id, 'org_1', 'live', started_at, 1, 100, 101, 0, 1,
      (${number} * 7919) % 1000, 1, 1, case when ${number} % 201 = 3 then 5 else 0 end, 0, 1, 1, 1, 1,
      1, 1, (${number} * 10729) % 10000, ${number} % 997, ${number} % 9973, case when ${number} % 10 = 0 then null else ${number} % 977 end,
      0, '{}', '{}', 0
    from sessions`.execute(db);
  const tool = sql`case when ${number} % 301 = 3 then 'rarely' else 'bash' end`;
  await sql`
    insert into session_values (session_id, organization_id, field, name, path)
    select session_id, 'org_1', 'tool', ${tool}, '' from sessions`.execute(db);
  await sql`
    insert into session_values (session_id, organization_id, field, name, path)
    select session_id, 'org_1', 'half_hour', '2026-11-27t22:30', '' from sessions`.execute(db);
  await fillChunks({ db, engine });
  // Nobody analyzes the embedded store.
  if (!isSqlite) await sql`analyze`.execute(db);
}

/** Inserts chunks of ten sessions. Every row of the index has the same word, and half of the chunks. */
async function fillChunks({ db, engine }: Pick<TestStore, 'db' | 'engine'>): Promise<void> {
  const has = new Uint8Array(SIGNATURE_BYTES);
  has[bitOf('frequent') >>> 3] = 1 << (bitOf('frequent') & 7);
  const rows = Array.from({ length: 10 * CHUNKS }, (_, n) => ({
    chunk_id: n + 1,
    session_id: `ses_${String(Math.floor(n / CHUNKS)).padStart(8, '0')}`,
    organization_id: 'org_1',
    first_sequence: 1 + 64 * (n % CHUNKS),
    last_sequence: 64 + 64 * (n % CHUNKS),
    index_row: n % 16 === 0 ? null : n - (n % 16) + 1,
    signature: n % 2 === 0 ? has : new Uint8Array(SIGNATURE_BYTES),
    entries: new Uint8Array(3_000),
  }));
  for (const row of rows) {
    const isFirst = row.index_row === null;
    const words = engine === 'postgres' && isFirst ? sql`array_to_tsvector(array['abcdfrequent'])` : sql`null`;
    await sql`
      insert into session_chunks (${sql.join(Object.keys(row).map((name) => sql.ref(name)))}, words)
      ${engine === 'postgres' ? sql`overriding system value` : sql``} values (${sql.join(Object.values(row))}, ${words})`.execute(
      db,
    );
    if (engine === 'sqlite' && isFirst)
      await sql`insert into chunk_words (rowid, words) values (${row.chunk_id}, 'abcdfrequent')`.execute(db);
  }
}
