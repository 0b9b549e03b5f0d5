import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Kysely, type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseQuery } from '../../contract/query.ts';
import { UTC } from '../../contract/time-zone.ts';
import { VALUES_OF_CONTENT } from '../erase/kept-rows.ts';
import { search } from '../search/search-sessions.ts';
import { postgresDialect } from '../store/postgres.ts';
import { listDaysBehind, sumDay } from '../store/summed-days.ts';
import { SESSION_TABLES, TENANT_TABLES, tablesThatTell } from '../store/tables.ts';
import { asOrganization, asService, poolOfTenants } from '../store/tenant.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { attach, ENGINES, openTestStore, type TestStore } from './engines.ts';
import { insertExample } from './example-rows.ts';
import { openSession, whenDerived } from './factories.ts';
import { startTestService } from './harness.ts';
import { type AnyRouteName, RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { createWorld, type World } from './world.ts';

/**
 * Routes that run as the service. Changes of a session go through its journal, whose statement would take three round trips as
 * the tenant. A search reads an index that row-level security would hide. The list of agents and SCIM's descriptions of the
 * service read nothing. For storage the service counts all quotas.
 */
const AS_SERVICE: AnyRouteName[] = [
  'appendBatches',
  'appendEvents',
  'completeSession',
  'completeSessions',
  'getScimConfiguration',
  'getStorage',
  'listAgents',
  'listScimResourceTypes',
  'listScimSchemas',
  'searchSessions',
];
/** All other routes, except the one that never ends. */
const OF_ONE: AnyRouteName[] = ROUTE_NAMES.filter(
  (route) => /secret|member|admin|directory/.test(TABLE[route].auth) && route !== 'streamChanges',
);

const isOfSession = (table: string) => table !== 'removals' && SESSION_TABLES.some((name) => name === table);

describe.skipIf(!ENGINES.includes('postgres'))('row-level security between organizations on PostgreSQL', () => {
  let world: World;
  beforeAll(async () => {
    // By then the jobs of the service's start are over: they would remove some of the rows below.
    world = await createWorld(await startTestService('postgres'));
    const { db } = world.service.store;
    for (const { organizationId: organization_id, sessionId: session_id } of [world.ours, world.theirs]) {
      const mine = { organization_id, session_id, user_id: 'usr_1', shared_by: 'usr_1', policy: '{}' };
      const has = async (table: (typeof TENANT_TABLES)[number]) => {
        const isMine = isOfSession(table) ? sql`session_id = ${session_id}` : sql`organization_id = ${organization_id}`;
        return (await sql`select 1 from ${sql.table(table)} where ${isMine} limit 1`.execute(db)).rows.length > 0;
      };
      await insertExample(db, 'removals', { ...mine, session_id: `gone_${session_id}` });
      for (const table of TENANT_TABLES) if (!(await has(table))) await insertExample(db, table, mine);
      // The service signs sessions in its own time.
      await sql`delete from session_chains where session_id = ${session_id}`.execute(db);
      await insertExample(db, 'session_chains', mine);
    }
  });
  afterAll(() => world.service.close());
  beforeAll(async () => {
    const { db } = world.service.store;
    for (const day of await listDaysBehind(db, undefined, 10)) await sumDay(db, day);
  });

  const ours = <Result>(work: () => Promise<Result>) => asOrganization(world.ours.organizationId, work);
  /** Skips rows without an organization: machines that wait to be signed in belong to none yet. */
  const organizationsIn = async (table: string) => {
    const { rows } = await sql<{ id: string }>`
      select distinct organization_id as id from ${sql.table(table)}
      where organization_id is not null`.execute(world.service.store.db);
    return rows.map(({ id }) => id).sort();
  };

  test.each(TENANT_TABLES)(
    'hides rows of other organizations in %s from a query that names no organization',
    async (table) => {
      const { ours: we, theirs } = world;
      const everybody = [we.organizationId, theirs.organizationId].sort();
      expect(await organizationsIn(table)).toEqual(everybody);
      expect(await ours(() => organizationsIn(table))).toEqual([we.organizationId]);
      expect(await asOrganization('org_unknown', () => organizationsIn(table))).toEqual([]);
      const { db } = world.service.store;
      const within = await ours(() =>
        db.transaction().execute(async (transaction) => {
          const { rows } =
            await sql`select from ${sql.table(table)} where organization_id <> ${we.organizationId}`.execute(
              transaction,
            );
          return rows.length;
        }),
      );
      expect(within).toBe(0);
      expect(await ours(() => asService(() => organizationsIn(table)))).toEqual(everybody);
    },
  );

  test("a request's role can use the organizations' tables, and no other table", async () => {
    const { rows: tables } = await sql<{ name: string }>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')`.execute(world.service.store.db);
    const { db } = world.service.store;
    const isDenied = (statement: RawBuilder<unknown>) =>
      ours(() => statement.execute(db)).then(
        () => false,
        (error: Error) => /permission denied/.test(error.message),
      );
    const usable: string[] = [];
    for (const { name } of tables) {
      const table = sql.table(name);
      const statements = [sql`select * from ${table} limit 0`, sql`delete from ${table} where false`];
      const denied = await Promise.all(statements.map(isDenied));
      if (denied.includes(false)) usable.push(name);
    }
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['settings', 'accounts', 'links', 'provider_records', 'users', 'rate_limits']),
    );
    expect(usable.sort()).toEqual([...TENANT_TABLES].sort());
  });

  test('prevents changing, taking over and creating rows of another organization', async () => {
    const { db } = world.service.store;
    const { sessionId, organizationId } = world.theirs;
    await ours(() => db.updateTable('sessions').set({ title: 'ours now' }).execute());
    await ours(() => db.deleteFrom('session_facts').where('session_id', '=', sessionId).execute());
    const row = await db
      .selectFrom('sessions')
      .selectAll()
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ title: null, organization_id: organizationId });
    const facts = db.selectFrom('session_facts').select('session_id').where('session_id', '=', sessionId);
    expect(await facts.execute()).toHaveLength(1);
    const made = ours(() =>
      db
        .insertInto('sessions')
        .values({ ...row, session_id: 'ses_made' })
        .execute(),
    );
    await expect(made).rejects.toThrow(/row-level security policy/);
  });

  describe('on a session that others may not see', () => {
    const PERSON = 'usr_person';
    const sessionId = () => world.ours.sessionId;
    /** Tables whose rows reveal that the session exists, and tables whose rows have its content. */
    const NAMED = ['sessions', 'session_values', 'shares', ...tablesThatTell('facts')];
    const OF_CONTENT = [...tablesThatTell('content'), 'masks'];
    const ALL = [...NAMED, ...OF_CONTENT, 'values of content'];
    beforeAll(async () => {
      const { db } = world.service.store;
      const mine = { organization_id: world.ours.organizationId, session_id: sessionId() };
      const values = VALUES_OF_CONTENT.map((field) => ({ ...mine, field, name: 'a', path: '' }));
      await db.insertInto('session_values').values(values).execute();
      await insertExample(db, 'session_views', { ...mine, user_id: 'usr_2' });
    });
    afterAll(async () => {
      const change = { visibility: 'team', user_id: null } as const;
      const { db } = world.service.store;
      await db.updateTable('sessions').set(change).where('session_id', '=', sessionId()).execute();
    });

    /** The tables in which a query without the rule's conditions finds the session. */
    async function seenBy(viewer: string | undefined, change: object): Promise<string[]> {
      const { db } = world.service.store;
      const mine = sql`session_id = ${sessionId()}`;
      await db
        .updateTable('sessions')
        .set({ user_id: PERSON, content_expired_at: null, ...change })
        .where('session_id', '=', sessionId())
        .execute();
      const asked = [
        ...[...NAMED, ...OF_CONTENT].map(
          (table) => [table, sql`select 1 from ${sql.table(table)} where ${mine}`] as const,
        ),
        ...VALUES_OF_CONTENT.map(
          (field) =>
            ['values of content', sql`select 1 from session_values where ${mine} and field = ${field}`] as const,
        ),
      ];
      const seen = asked.map(async ([name, query]) => {
        const { rows } = await asOrganization(world.ours.organizationId, () => query.execute(db), viewer);
        return rows.length > 0 ? [name] : [];
      });
      return [...new Set((await Promise.all(seen)).flat())];
    }

    test.each([
      ['team', 'usr_other', ALL],
      ['facts', 'usr_other', NAMED],
      ['private', 'usr_other', []],
      ['private', 'usr_1', ['shares']],
      ['facts', PERSON, ALL],
      ['private', PERSON, ALL],
      ['private', '', []],
      ['private', undefined, ALL],
    ] as const)(
      'shows of a %s session to %j only %j if the query has no conditions',
      async (visibility, viewer, expected) => {
        expect(await seenBy(viewer, { visibility })).toEqual(expected);
      },
    );

    test('hides the content of a session from every reader after it has expired', async () => {
      expect(await seenBy(PERSON, { visibility: 'team', content_expired_at: 1 })).toEqual(NAMED);
    });

    test.each([
      ['usr_other', PERSON, []],
      ['usr_1', PERSON, ['usr_1']],
      [PERSON, PERSON, ['usr_1', 'usr_2']],
      ['usr_other', null, ['usr_1', 'usr_2']],
    ])('shows %s the views of a session of %j as %j', async (viewer, user_id, expected) => {
      const { db } = world.service.store;
      const change = { user_id, visibility: 'team', content_expired_at: null } as const;
      await db.updateTable('sessions').set(change).where('session_id', '=', sessionId()).execute();
      const looks = db.selectFrom('session_views').select('user_id').where('session_id', '=', sessionId());
      const rows = await asOrganization(world.ours.organizationId, () => looks.orderBy('user_id').execute(), viewer);
      expect(rows.map((row) => row.user_id)).toEqual(expected);
    });

    test('hides content and sessions even from a search that ignores its caller', async () => {
      const { service, ours } = world;
      const { db } = service.store;
      const events = [
        { eventType: 'message.user', payload: { text: 'zqwalled words' } },
        { eventType: 'tool.call', payload: { name: 'Bash', callId: 'one', input: { command: 'zqwalled --run' } } },
      ];
      const found = async (viewer: string | undefined, q: string) => {
        const { found } = await asOrganization(
          ours.organizationId,
          () =>
            search(db, {
              viewer: wholeOrganization(ours.organizationId),
              ...{
                planes: ['live'],
                order: 'started',
                direction: 'desc',
                limit: 10,
                now: service.clock.now,
                calendar: UTC,
              },
              query: parseQuery(q),
            }),
          viewer,
        );
        return found.map((one) => one.sessionId);
      };
      const id = await openSession(service, ours.live, ours);
      await service.call('POST', `/v1/sessions/${id}/events`, { as: ours.live, body: { events } });
      await whenDerived(service, ours.member, id, events.length);
      const queries = ['zqwalled', '"zqwalled words"', 'zqwalled not:nowhere', 'command:zqwalled*'];
      for (const q of queries) expect(await found('usr_other', q), q).toEqual([id]);
      for (const visibility of ['facts', 'private'] as const) {
        const change = { visibility, user_id: PERSON };
        await db.updateTable('sessions').set(change).where('session_id', '=', id).execute();
        for (const q of queries) {
          expect(await found('usr_other', q), q).toEqual([]);
          expect(await found(PERSON, q), q).toEqual([id]);
        }
      }
    });

    test('shows a mask of all sessions, whose counts reveal hidden sessions, only to its requester', async () => {
      const { db } = world.service.store;
      const { organizationId: organization_id } = world.ours;
      await insertExample(db, 'masks', { organization_id, mask_id: 'mrn_walled', requested_by: PERSON });
      const seen = async (viewer: string | undefined) => {
        const all = db.selectFrom('masks').select('mask_id').where('mask_id', '=', 'mrn_walled');
        return (await asOrganization(organization_id, () => all.execute(), viewer)).length;
      };
      expect([await seen(PERSON), await seen('usr_other'), await seen(undefined)]).toEqual([1, 0, 1]);
    });

    test('shows a saved view to its person, and to others once it is shared', async () => {
      const { db } = world.service.store;
      const { organizationId } = world.ours;
      const view = { organization_id: organizationId, created_by: PERSON, name: 'a', search: '{}', created_at: 0 };
      for (const is_shared of [0, 1])
        await db
          .insertInto('views')
          .values({ ...view, view_id: `viw_walled_${is_shared}`, is_shared, updated_at: 0 })
          .execute();
      const seen = async (viewer: string) => {
        const all = db.selectFrom('views').select('view_id').where('view_id', 'like', 'viw\\_walled%');
        const rows = await asOrganization(organizationId, () => all.orderBy('view_id').execute(), viewer);
        return rows.map(({ view_id }) => view_id);
      };
      expect(await seen(PERSON)).toEqual(['viw_walled_0', 'viw_walled_1']);
      expect(await seen('usr_other')).toEqual(['viw_walled_1']);
    });
  });

  test('leaves no setting on a connection that another caller uses next', async () => {
    const { db, pool } = world.service.store;
    const clients = await Promise.all(Array.from({ length: 19 }, () => pool?.connect()));
    await ours(() => organizationsIn('sessions'));
    const failed = ours(() => sql`select 1 / 0`.execute(db));
    await expect(failed).rejects.toThrow(/division by zero/);
    const { rows } =
      await sql`select current_user = session_user as same, current_setting('app.organization') as named`.execute(db);
    expect(rows).toEqual([{ same: true, named: '' }]);
    for (const client of clients) client?.release();
  });

  test('leaves no transaction open if its role does not exist', async () => {
    const pool = world.service.store.pool as pg.Pool;
    const db = new Kysely({ dialect: postgresDialect(poolOfTenants(pool, 'nobody_has_it')) });
    const asked = ours(() => db.transaction().execute((transaction) => sql`select 1`.execute(transaction)));
    await expect(asked).rejects.toThrow(/"nobody_has_it" does not exist/);
    const { rows } = await pool.query(`select count(*)::int as open from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`);
    expect(rows).toEqual([{ open: 0 }]);
  });

  test('covers every request of a member, an admin and a machine', async () => {
    const { service } = world;
    const { db } = service.store;
    const { rows } = await sql<{ role: string }>`select left(current_user, 56) || '_tenant' as role`.execute(db);
    const role = sql.id(String(rows[0]?.role));
    await sql`revoke all on all tables in schema public from ${role}`.execute(db);
    const answered: Record<string, number> = {};
    for (const route of OF_ONE) {
      const { status } = await request(service, route, RIGHT[route](world), RIGHT_CALLER[TABLE[route].auth](world));
      // The role may read nothing, so every request under it fails.
      if (status !== 500) answered[route] = status;
      service.clock.now += 10_000;
    }
    expect(Object.keys(answered).sort()).toEqual([...AS_SERVICE].sort());
  });

  test('is reported if its role may not be used, and set up again by the next start', async () => {
    const store = await openTestStore('postgres');
    await sql`revoke all on all tables in schema public from ${sql.id('postgres_tenant')}`.execute(store.db);
    const next = await attach(store.dataDir, store.databaseUrl);
    expect(next.hasRowSecurity).toBe(true);
    await next.close();
    const service = await startTestService('postgres', {}, { ...store, hasRowSecurity: false });
    expect(service.log.filter((line) => line.includes('row-level security is not in force'))).toHaveLength(1);
    await service.close();
    await store.dispose();
  });

  describe('a database role that may use the tables without owning them', () => {
    const role = `guest_${randomBytes(4).toString('hex')}`;
    let store: TestStore;
    beforeAll(async () => {
      store = await openTestStore('postgres');
      await sql`create role ${sql.id(role)} login`.execute(store.db);
      await sql`grant all on all tables in schema public to ${sql.id(role)}`.execute(store.db);
    });
    afterAll(async () => {
      await sql`drop owned by ${sql.id(role)}`.execute(store.db);
      await sql`drop role ${sql.id(role)}`.execute(store.db);
      await store.dispose();
    });

    const openAsRole = () => attach(store.dataDir, String(store.databaseUrl).replace('//postgres@', `//${role}@`));

    test('is refused at the start, instead of seeing an empty store', async () => {
      await expect(openAsRole()).rejects.toThrow(
        `row-level security hides every row from the role "${role}", because the tables belong to "postgres"`,
      );
    });

    test('is accepted once the documented commands have made it the owner', async () => {
      const [, commands = ''] = /```sql\n(DO [\s\S]+?)```/.exec(readFileSync('docs/postgresql.md', 'utf8')) ?? [];
      const pool = store.pool as pg.Pool;
      await pool.query(commands.replaceAll('TO capture', `TO ${role}`));
      const own = await openAsRole();
      await own.ping();
      await own.close();
    });
  });
});
