import { type Expression, type SqlBool, sql } from 'kysely';
import type { Order } from '../../contract/names.ts';
import type { Plane } from '../../contract/secret.ts';
import { isOneOf, ofEngine, rowsOfTexts, unindexed } from './dialect.ts';
import { allRows, NONE } from './rows.ts';
import type { Db, SessionRow, SessionValueRow } from './schema.ts';
import { isNamed, named, readable, type Viewer } from './viewer.ts';

/** The position of a session in a sorted list. */
export interface OrderKey {
  value: number;
  sessionId: string;
}

/**
 * A field with its wanted values: `name` is the value, or the first of a range that ends before the name `end`; `ending` is a
 * pattern for the end of a path.
 */
export interface ValueWanted {
  field: SessionValueRow['field'];
  alternatives: readonly { name: string; end?: string; ending?: string }[];
}

/** All names that begin so. */
export const namesFrom = (name: string) => ({ name, end: `${name}\u{10ffff}` });

/** The conditions, all of which a session must meet. */
export interface SessionsWanted {
  viewer: Viewer;
  /** Whether the search is for content, such as words or commands. Then only sessions that the viewer may read can match. */
  isOfContent: boolean;
  plane: Plane;
  order: Order;
  direction: 'asc' | 'desc';
  agentIds?: readonly string[];
  environmentIds?: readonly string[];
  secretIds?: readonly string[];
  /** The people to whom it belongs; null for nobody. */
  userIds?: readonly (string | null)[];
  statuses?: readonly SessionRow['status'][];
  /** The earliest start, in epoch milliseconds. */
  from?: number;
  /** The end of the range: sessions start before this time. */
  before?: number;
  failed?: boolean;
  values: readonly ValueWanted[];
}

/** The expression for each order, which must equal that of its index. */
const KEYS: Record<Order, ReturnType<typeof sql<number>>> = {
  started: sql<number>`started_at`,
  duration: sql<number>`duration_ms`,
  events: sql<number>`event_count`,
  failures: sql<number>`failures`,
  changes: sql<number>`lines_changed`,
  tokens: sql<number>`tokens`,
  cost: sql<number>`coalesce(cost, 0)`,
  redactions: sql<number>`redactions`,
};

/** The sessions to search: those with some ids, or the next ones in the order. */
export type Among = { ids: readonly string[] } | { next: number };

/** Finds the sessions that meet the conditions, in the order, after a position. */
export async function findInOrder(
  db: Db,
  wanted: SessionsWanted,
  after: OrderKey | undefined,
  among: Among,
  limit: number,
): Promise<OrderKey[]> {
  const { rows } = await sql<OrderKey>`
    select looked.session_id as "sessionId", looked.value
    from (${inOrder(db, wanted, after, among)}) as looked
    join sessions on sessions.session_id = looked.session_id
    left join session_facts on session_facts.session_id = looked.session_id
    where ${and([sql`sessions.deleted_at is null`, ...conditions(db, wanted)])}
    order by looked.value ${sql.raw(wanted.direction)}, looked.session_id ${sql.raw(wanted.direction)}
    limit ${limit}
  `.execute(db);
  return rows.map(({ value, sessionId }) => ({ value: Number(value), sessionId }));
}

/** Finds the last of the next sessions in the order; undefined if fewer are left. */
export async function findEnd(
  db: Db,
  wanted: SessionsWanted,
  after: OrderKey | undefined,
  next: number,
): Promise<OrderKey | undefined> {
  const { rows } = await sql<OrderKey>`
    select session_id as "sessionId", value from (${inOrder(db, wanted, after, { next })}) as looked
    limit 1 offset ${next - 1}
  `.execute(db);
  return rows[0] && { value: Number(rows[0].value), sessionId: rows[0].sessionId };
}

/** Counts the sessions that meet the conditions, after a position; undefined if more than `most` would be read for it. */
export async function countInOrder(
  db: Db,
  wanted: SessionsWanted,
  after: OrderKey | undefined,
  most: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ looked: number; count: number }>`
    select count(*) as looked, count(case when sessions.deleted_at is null and ${and(conditions(db, wanted))} then 1 end) as count
    from (${inOrder(db, wanted, after, { next: most + 1 })}) as looked
    join sessions on sessions.session_id = looked.session_id
    left join session_facts on session_facts.session_id = looked.session_id
  `.execute(db);
  const [row] = rows;
  return row && Number(row.looked) <= most ? Number(row.count) : undefined;
}

/**
 * Uses only conditions that an index of the order answers, so that no row is read needlessly. It excludes hidden sessions,
 * because the last session may become the cursor of the next page.
 */
function inOrder(db: Db, wanted: SessionsWanted, after: OrderKey | undefined, among: Among) {
  const { viewer, plane, order, direction, agentIds, environmentIds, secretIds, userIds, from, before } = wanted;
  const isByTime = order === 'started';
  const key = KEYS[order];
  const asked: Expression<SqlBool>[] = [
    sql`organization_id = ${viewer.organizationId}`,
    sql`plane = ${plane}`,
    isByTime ? named(viewer) : isNamed(viewer, 'session_facts.session_id'),
  ];
  if (isByTime && agentIds?.length === 1) asked.push(sql`agent_id = ${agentIds[0]}`);
  if (isByTime && environmentIds?.length === 1) asked.push(sql`environment_id = ${environmentIds[0]}`);
  if (isByTime && secretIds?.length === 1) asked.push(sql`secret_id = ${secretIds[0]}`);
  if (isByTime && userIds?.length === 1) asked.push(isOfPerson(db, userIds));
  if (isByTime && from !== undefined) asked.push(sql`started_at >= ${from}`);
  if (isByTime && before !== undefined) asked.push(sql`started_at < ${before}`);
  if (after) {
    const beyond = sql.raw(direction === 'desc' ? '<' : '>');
    asked.push(sql`(${key}, session_id) ${beyond} (${after.value}, ${after.sessionId})`);
  }
  const table = sql.table(isByTime ? 'sessions' : 'session_facts');
  const all = sql`select session_id, ${key} as value from`;
  if ('ids' in among) {
    // The query has no order. With one, SQLite would read all sessions instead of those with the given ids.
    return sql`${all} (${rowsOfTexts(db, among.ids)}) as given cross join ${table}
      where session_id = given.id and ${and(asked)}`;
  }
  return sql`${all} ${table} where ${and(asked)}
    order by ${key} ${sql.raw(direction)}, session_id ${sql.raw(direction)} limit ${among.next}`;
}

const and = (all: readonly Expression<unknown>[]) => sql.join([...all], sql` and `);
const or = (all: readonly Expression<unknown>[]) => sql<boolean>`(${sql.join([...all], sql` or `)})`;

function conditions(db: Db, wanted: SessionsWanted): Expression<unknown>[] {
  const { viewer, isOfContent, agentIds, environmentIds, secretIds, userIds, statuses, from, before, failed, values } =
    wanted;
  return [
    isOfContent ? readable(viewer) : named(viewer),
    ...(agentIds ? [isOneOf(db, 'sessions.agent_id', agentIds)] : []),
    ...(environmentIds ? [isOneOf(db, 'sessions.environment_id', environmentIds)] : []),
    ...(secretIds ? [isOneOf(db, 'sessions.secret_id', secretIds)] : []),
    // Written so that no index fits: PostgreSQL would read all sessions of nobody for each session of the order.
    ...(userIds ? [isOfPerson(db, userIds, sql`coalesce(sessions.user_id, '') = ''`)] : []),
    ...(statuses ? [isOneOf(db, 'sessions.status', statuses)] : []),
    ...(from === undefined ? [] : [sql`sessions.started_at >= ${from}`]),
    ...(before === undefined ? [] : [sql`sessions.started_at < ${before}`]),
    ...(failed === undefined ? [] : [sql`coalesce(session_facts.failures, 0) ${sql.raw(failed ? '>' : '=')} 0`]),
    // The offset prevents PostgreSQL from using a join or listing all sessions with the value.
    ...values.map(
      (value) => sql`exists (select 1 from session_values where session_values.session_id = looked.session_id
        and ${hasValue(db, viewer.organizationId, value)} ${ofEngine(db, { sqlite: NONE, postgres: sql`offset 0` })})`,
    ),
  ];
}

/** Whether the session belongs to one of the people. @param none how to find sessions that belong to nobody */
function isOfPerson(
  db: Db,
  userIds: readonly (string | null)[],
  none: Expression<unknown> = sql`sessions.user_id is null`,
) {
  const people = userIds.filter((userId) => userId !== null);
  const nobody = people.length < userIds.length ? [none] : [];
  return or([
    ...nobody,
    ...(people.length > 0 || nobody.length === 0 ? [isOneOf(db, 'sessions.user_id', people)] : []),
  ]);
}

/** A range is looked up among the values of the session, not among all sessions with such a value. */
const hasValue = (db: Db, organizationId: string, { field, alternatives }: ValueWanted) =>
  and([
    sql`${alternatives.some(({ end }) => end !== undefined) ? unindexed(db, ORGANIZATION_OF_VALUE) : sql.ref(ORGANIZATION_OF_VALUE)} = ${organizationId}`,
    sql`field in (${sql.join([...storedAs(field)])})`,
    or(alternatives.map((one) => and([hasName(one), endsSo(one)]))),
  ]);

/** The fields of the rows that have the value. A file that the session edited has one row, although the session has also read it. */
const storedAs = (field: ValueWanted['field']): readonly ValueWanted['field'][] =>
  field === 'file' ? ['file', 'edited'] : [field];

type Alternative = ValueWanted['alternatives'][number];

const ORGANIZATION_OF_VALUE = 'session_values.organization_id';

const hasName = ({ name, end }: Alternative) =>
  end === undefined ? sql`name = ${name}` : sql`name >= ${name} and name < ${end}`;
const endsSo = ({ ending }: Alternative) =>
  ending === undefined ? sql`1 = 1` : sql`${PATH} like ${ending} escape '!'`;

/** Converts a path or an address, so that each of its names follows a slash. */
const PATH = sql`'/' || replace(replace(lower(path), '\\', '/'), ':', '/')`;

/**
 * How many times more rows may be read if several of them may not be several sessions: only the last name of a path is indexed,
 * and a session has several half hours of a day.
 */
const MORE_ROWS = 4;

/**
 * Finds the ids of all sessions with a value, including hidden ones.
 * @returns undefined if more than `most` sessions have it, or if it would read too many rows
 */
export async function findByValue(
  db: Db,
  organizationId: string,
  { field, alternatives }: ValueWanted,
  most: number,
): Promise<string[] | undefined> {
  const needsMore = field === 'half_hour' || alternatives.some(({ ending }) => ending !== undefined);
  const limit = 1 + most * (needsMore ? MORE_ROWS : 1);
  // Each alternative has its own query in the order of its index. Otherwise PostgreSQL would read all rows before it returns one.
  const arms = storedAs(field).flatMap((stored) =>
    alternatives.map(
      (one) => sql`select * from (
        select session_id, case when ${endsSo(one)} then 1 else 0 end as fits from session_values
        where organization_id = ${organizationId} and field = ${stored} and ${hasName(one)} order by name limit ${limit}
      ) as looked`,
    ),
  );
  const { rows } = await sql<{ session_id: string; fits: number }>`
    select * from (${sql.join(arms, sql` union all `)}) as looked limit ${limit}`.execute(db);
  const ids = new Set(rows.flatMap(({ session_id, fits }) => (fits === 1 ? session_id : [])));
  return rows.length === limit || ids.size > most ? undefined : [...ids];
}

/** Finds those of the sessions that the viewer may read. Row-level security must show their events, too, if they have any. */
export async function findReadable(db: Db, viewer: Viewer, sessionIds: readonly string[]): Promise<string[]> {
  const rows = await allRows(
    db,
    // Uses a scalar subquery instead of "exists", for which PostgreSQL might read all appends.
    sql<{ session_id: string }>`
      select session_id from sessions
      where ${unindexed(db, 'organization_id')} = ${viewer.organizationId} and ${isOneOf(db, 'session_id', sessionIds)}
        and ${readable(viewer)}
        and (event_count = 0 or (
          select 1 from appends
          where appends.session_id = sessions.session_id and appends.organization_id = ${viewer.organizationId}
            and first_sequence = 1) is not null)`,
  );
  return rows.map(({ session_id }) => session_id);
}

/** Filters on columns of the session, each with its own index. */
export type Trait = 'agentIds' | 'environmentIds' | 'secretIds' | 'userIds' | 'statuses' | 'time' | 'failed';

/** Finds the ids of all sessions that match one of these filters, including hidden ones, up to a limit. */
export async function findByTrait(
  db: Db,
  wanted: Omit<SessionsWanted, 'plane'>,
  planes: readonly Plane[],
  trait: Trait,
  limit: number,
): Promise<string[]> {
  const { viewer, from = 0, before = Number.MAX_SAFE_INTEGER } = wanted;
  const asked: Record<Trait, Expression<unknown>> = {
    agentIds: isOneOf(db, 'agent_id', wanted.agentIds ?? []),
    environmentIds: isOneOf(db, 'environment_id', wanted.environmentIds ?? []),
    secretIds: isOneOf(db, 'secret_id', wanted.secretIds ?? []),
    userIds: isOfPerson(db, wanted.userIds ?? []),
    statuses: and([isOneOf(db, 'status', wanted.statuses ?? []), sql`status <> 'completed'`]),
    time: sql`started_at >= ${from} and started_at < ${before}`,
    failed: sql`failures > 0`,
  };
  const { rows } = await sql<{ session_id: string }>`
    select session_id from ${sql.table(trait === 'failed' ? 'session_facts' : 'sessions')}
    where organization_id = ${viewer.organizationId} and ${isOneOf(db, 'plane', planes)} and ${asked[trait]} limit ${limit}
  `.execute(db);
  return rows.map(({ session_id }) => session_id);
}

/** Finds the ids of machines by the beginning of their name or by their id. */
export async function findEnvironmentsCalled(
  db: Db,
  organizationId: string,
  names: readonly string[],
): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<{ environment_id: string }>`
      select environment_id from environments
      where organization_id = ${organizationId} and ${isCalled(names, ['hostname', 'display_name'], 'environment_id')}`,
  );
  return rows.map(({ environment_id }) => environment_id);
}

/** Finds the ids of secrets, including revoked ones, by the beginning of their name or by their id. */
export async function findSecretsCalled(db: Db, organizationId: string, names: readonly string[]): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<{ secret_id: string }>`
      select secret_id from secrets
      where organization_id = ${organizationId} and ${isCalled(names, ['name'], 'secret_id')}`,
  );
  return rows.map(({ secret_id }) => secret_id);
}

const isCalled = (names: readonly string[], columns: readonly string[], id: string) =>
  or(
    names.flatMap((name) => {
      const pattern = `${name.toLowerCase().replace(/[!%_]/g, '!$&')}%`;
      const begins = columns.map((column) => sql`lower(${sql.ref(column)}) like ${pattern} escape '!'`);
      return [...begins, sql`${sql.ref(id)} = ${name}`];
    }),
  );
