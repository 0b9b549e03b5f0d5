import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  bounded,
  inForce,
  type RetentionBounds,
  type RetentionField,
  type RetentionRule,
} from '../../contract/retention.ts';
import { recordAction } from './audit.ts';
import { holdOf } from './deletion-sql.ts';
import { VERSION_OF_KEPT } from './derived.ts';
import { completePolicy } from './policies.ts';
import { allRows, firstRow, oneRow } from './rows.ts';
import type { Db } from './schema.ts';

export const DAY_MS = 86_400_000;
/** Stands for "never" in a comparison of days. */
const NEVER_DAYS = 10_000_000;
/** Words that could not be derived go without their facts this much later: otherwise an event that nothing can read would keep them. */
const UNDERIVED_DAYS = 7;

/** What an organization's rules say about one field, at a time. */
export interface Due {
  organizationId: string;
  rules: readonly RetentionRule[];
  bounds: RetentionBounds;
  field: RetentionField;
  now: number;
}

/** A session without a change for long. */
export interface Unchanged {
  organizationId: string;
  sessionId: string;
  eventCount: number;
}

/** A session whose time is over. */
export interface DueSession extends Unchanged {
  updatedAt: number;
  status: 'active' | 'completed' | 'failed';
}

/** A position in the order of opening. */
export interface Opened {
  createdAt: number;
  sessionId: string;
}

/** The repository of a session, as lists show it. */
export const REPOSITORY = sql<string | null>`coalesce(
  (select value from session_values
   where session_values.organization_id = sessions.organization_id and session_values.session_id = sessions.session_id
     and field = 'repository' order by value limit 1),
  sessions.repository)`;

const daysOf = ({ bounds, field }: Due, rule: RetentionRule | undefined): number =>
  bounded(bounds, field, rule)?.days ?? NEVER_DAYS;

/** Within how many days without a change a session is over its time; SQL over `sessions`. */
function daysOfSession(due: Due): RawBuilder<unknown> {
  const { rules, field } = due;
  const perKind = (['repository', 'plane'] as const).flatMap((kind) => {
    const told = inForce(rules, field, kind).map(
      (rule) => sql`when ${rule.target.id} then ${sql.lit(daysOf(due, rule))}`,
    );
    const of = kind === 'plane' ? sql`sessions.plane` : REPOSITORY;
    return told.length === 0 ? [] : [sql`case ${of} ${sql.join(told, sql` `)} end`];
  });
  const broadest = sql.lit(daysOf(due, inForce(rules, field, 'organization')[0]));
  return sql`cast(coalesce(${sql.join([...perKind, broadest])}, ${broadest}) as bigint)`;
}

/** Whether a session of `sessions` is old enough for the strictest rule: what an index finds. */
function isOld(due: Due): RawBuilder<SqlBool> {
  const all = [undefined, ...due.rules.filter((rule) => rule[due.field] !== undefined)].map((rule) =>
    daysOf(due, rule),
  );
  const isWords = due.field === 'contentDays';
  return sql`sessions.organization_id = ${due.organizationId} and sessions.deleted_at is null
    ${isWords ? sql`and sessions.content_expired_at is null` : sql``}
    and sessions.created_at < ${due.now - Math.min(...all) * DAY_MS}`;
}

/** Whether it is over its time. */
const isOver = (due: Due): RawBuilder<SqlBool> =>
  sql`${isOld(due)} and sessions.updated_at < ${due.now} - ${daysOfSession(due)} * ${sql.lit(DAY_MS)}`;

/** Whether its facts are there without its words, or nobody waits for them any more. */
const isDerived = (due: Due, version: number) => sql<SqlBool>`(
  sessions.event_count = 0
  or sessions.updated_at < ${due.now} - (${daysOfSession(due)} + ${sql.lit(UNDERIVED_DAYS)}) * ${sql.lit(DAY_MS)}
  or exists (
    select 1 from session_facts
    where session_facts.session_id = sessions.session_id and session_facts.organization_id = sessions.organization_id
      and session_facts.derived_through >= sessions.event_count
      and session_facts.version in (${version}, ${sql.lit(VERSION_OF_KEPT)})))`;

/** What is being masked is masked in the facts as well, as long as they can be derived again. */
const IS_MASKED = sql<SqlBool>`not exists (
  select 1 from masks
  where masks.organization_id = sessions.organization_id and masks.session_id = sessions.session_id
    and masks.finished_at is null)`;

/** Whether nothing keeps the session from losing its words now. */
export const mayLoseWords = (due: Due, version: number): RawBuilder<SqlBool> =>
  sql`${isOver(due)} and sessions.status <> 'active' and ${isDerived(due, version)} and ${IS_MASKED}
    and ${sql.raw(holdOf('sessions'))} is null`;

/** Some sessions in the order of opening: those behind one, through another. */
export interface Slice {
  after?: Opened | undefined;
  through?: Opened | undefined;
}

const within = ({ after, through }: Slice) => sql`
  ${after ? sql`and (created_at, session_id) > (${after.createdAt}, ${after.sessionId})` : sql``}
  ${through ? sql`and (created_at, session_id) <= (${through.createdAt}, ${through.sessionId})` : sql``}`;

/** The last of so many sessions behind one that are to be looked at; undefined where there are not as many. */
export const endOfSlice = (db: Db, due: Due, after: Opened | undefined, size: number): Promise<Opened | undefined> =>
  firstRow(
    db,
    sql<Opened>`
      select created_at as "createdAt", session_id as "sessionId" from sessions
      where ${isOld(due)} ${within({ after })}
      order by created_at, session_id limit 1 offset ${size - 1}`,
  );

/** The sessions of a slice that are over their time and not held, in the order of opening. */
export const listDue = (db: Db, due: Due, slice: Slice): Promise<DueSession[]> =>
  allRows(
    db,
    sql<DueSession>`
      select organization_id as "organizationId", session_id as "sessionId", event_count as "eventCount",
        updated_at as "updatedAt", status
      from sessions
      where ${isOver(due)} and ${sql.raw(holdOf('sessions'))} is null ${within(slice)}
      order by created_at, session_id`,
  );

/** How many sessions are over their time, and how many of them are held. */
export async function countDue(db: Db, due: Due): Promise<{ due: number; held: number }> {
  const row = await oneRow(
    db,
    sql<{ sessions: number | string; held: number | string }>`
      select count(*) as sessions, count(hold) as held
      from (select ${sql.raw(holdOf('sessions'))} as hold from sessions where ${isOver(due)}) as over`,
  );
  return { due: Number(row.sessions) - Number(row.held), held: Number(row.held) };
}

/** An organization and its rules. */
export interface Ruled {
  organizationId: string;
  rules: readonly RetentionRule[];
}

/** Some organizations behind one, in the order of their ids. */
export async function listRuled(db: Db, after: string, limit: number): Promise<Ruled[]> {
  const rows = await allRows(
    db,
    sql<{ organization_id: string; policy: string | null }>`
      select organizations.organization_id, policy
      from organizations left join policies on policies.organization_id = organizations.organization_id
      where organizations.organization_id > ${after} and status = 'active'
      order by organizations.organization_id limit ${limit}`,
  );
  return rows.map(({ organization_id: organizationId, policy }) => ({
    organizationId,
    rules: completePolicy(policy).retention,
  }));
}

const NOTED = {
  'session.expired': sql`deleted_sessions where last_event_at is not null and is_noted = 0`,
  'session.content_expired': sql`expired_contents where is_noted = 0`,
} as const;

const TABLE_OF = {
  'session.expired': sql`deleted_sessions`,
  'session.content_expired': sql`expired_contents`,
} as const;

/** Sessions of an entry. What is kept of a session is written again with its row: 100,000 would keep all writers waiting for 4 s. */
const NOTED_AT_ONCE = 1_000;

/**
 * Notes in the audit logs which sessions have expired since the last time, and of which the words have: an entry of each kind for
 * each organization and each thousand sessions, with their number. What a process that was killed left is noted by the next one.
 */
export async function recordExpired(db: Db, now: number, signal?: AbortSignal): Promise<void> {
  for (const action of ['session.expired', 'session.content_expired'] as const) {
    const organizations = await allRows(
      db,
      sql<{ organization_id: string }>`select distinct organization_id from ${NOTED[action]}`,
    );
    for (const { organization_id: organizationId } of organizations) {
      while (!signal?.aborted && (await recordSome(db, action, organizationId, now)) === NOTED_AT_ONCE);
    }
  }
}

/** @returns how many sessions the entry is about */
const recordSome = (db: Db, action: keyof typeof NOTED, organizationId: string, now: number): Promise<number> =>
  db.transaction().execute(async (transaction) => {
    const expired = await allRows(
      transaction,
      // By their keys: an index of the organization would find all that wait each time, 0.6 s instead of 0.06.
      sql<{ event_count: number }>`
        update ${TABLE_OF[action]} set is_noted = 1
        where coalesce(organization_id, '') = ${organizationId} and is_noted < 1 and session_id in (
          select session_id from ${NOTED[action]} and organization_id = ${organizationId} limit ${NOTED_AT_ONCE})
        returning event_count`,
    );
    if (expired.length === 0) return 0;
    const actor = { kind: 'service', id: 'retention' } as const;
    const target = { kind: 'organization', id: organizationId } as const;
    const events = expired.reduce((sum, row) => sum + row.event_count, 0);
    const details = { sessions: expired.length, events };
    await recordAction(transaction, organizationId, { actor, action, target, details }, now);
    return expired.length;
  });
