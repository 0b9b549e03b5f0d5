import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  bounded,
  inForce,
  type RetentionBounds,
  type RetentionField,
  type RetentionRule,
  type RetentionTarget,
} from '../../contract/retention.ts';
import { holdOf } from '../store/deletion-sql.ts';
import { completePolicy } from '../store/policies.ts';
import { countOfRepository } from '../store/repositories.ts';
import { allRows, firstRow, NONE, oneRow } from '../store/rows.ts';
import type { Db } from '../store/schema.ts';
import { VERSION_OF_KEPT } from '../store/session-rows.ts';
import type { Viewer } from '../store/viewer.ts';

export const DAY_MS = 86_400_000;
/** Stands for "never" in a comparison of days. */
const NEVER_DAYS = 10_000_000;
/**
 * How many days later expired content is removed if it could not be derived; its facts are then lost. Otherwise an unreadable
 * event would keep the content forever.
 */
const UNDERIVED_DAYS = 7;

/** The rules of an organization for one field, at a point in time. */
export interface Due {
  organizationId: string;
  rules: readonly RetentionRule[];
  bounds: RetentionBounds;
  field: RetentionField;
  now: number;
}

/** A session that must not have received events since it was listed. */
export interface Unchanged {
  organizationId: string;
  sessionId: string;
  eventCount: number;
}

/** An expired session. */
export interface DueSession extends Unchanged {
  updatedAt: number;
  status: 'active' | 'completed' | 'failed';
}

/** A position among the sessions in the order of their opening. */
export interface Opened {
  createdAt: number;
  sessionId: string;
}

/** The repository of a session that lists show. */
export const REPOSITORY = sql<string | null>`coalesce(
  (select path from session_values
   where session_values.organization_id = sessions.organization_id and session_values.session_id = sessions.session_id
     and field = 'repository' order by path limit 1),
  sessions.repository)`;

const daysOf = ({ bounds, field }: Due, rule: RetentionRule | undefined): number =>
  bounded(bounds, field, rule)?.days ?? NEVER_DAYS;

/** After how many days without a change a session expires, as SQL over `sessions`. */
function daysOfSession(due: Due): RawBuilder<unknown> {
  const { rules, field } = due;
  const perKind = (['repository', 'plane'] as const).flatMap((kind) => {
    const cases = inForce(rules, field, kind).map(
      (rule) => sql`when lower(${rule.target.id}) then ${sql.lit(daysOf(due, rule))}`,
    );
    const of = kind === 'plane' ? sql`sessions.plane` : REPOSITORY;
    return cases.length === 0 ? [] : [sql`case lower(${of}) ${sql.join(cases, sql` `)} end`];
  });
  const broadest = sql.lit(daysOf(due, inForce(rules, field, 'organization')[0]));
  return sql`cast(coalesce(${sql.join([...perKind, broadest])}, ${broadest}) as bigint)`;
}

/** Whether a session is old enough for the strictest rule. An index answers this condition. */
function isOld(due: Due): RawBuilder<SqlBool> {
  const all = [undefined, ...due.rules.filter((rule) => rule[due.field] !== undefined)].map((rule) =>
    daysOf(due, rule),
  );
  const isContent = due.field === 'contentDays';
  return sql`sessions.organization_id = ${due.organizationId} and sessions.deleted_at is null
    ${isContent ? sql`and sessions.content_expired_at is null` : sql``}
    and sessions.created_at < ${due.now - Math.min(...all) * DAY_MS}`;
}

/** Whether a session has expired. */
const isOver = (due: Due): RawBuilder<SqlBool> =>
  sql`${isOld(due)} and sessions.updated_at < ${due.now} - ${daysOfSession(due)} * ${sql.lit(DAY_MS)}`;

/** Whether the facts of the session can stay without its content, or have been missing for too long. */
const isDerived = (due: Due, version: number) => sql<SqlBool>`(
  sessions.event_count = 0
  or sessions.updated_at < ${due.now} - (${daysOfSession(due)} + ${sql.lit(UNDERIVED_DAYS)}) * ${sql.lit(DAY_MS)}
  or exists (
    select 1 from session_facts
    where session_facts.session_id = sessions.session_id and session_facts.organization_id = sessions.organization_id
      and session_facts.derived_through >= sessions.event_count
      and session_facts.version in (${version}, ${sql.lit(VERSION_OF_KEPT)})))`;

/** No mask may be running, because the facts can be masked only as long as they can be derived again. */
const IS_MASKED = sql<SqlBool>`not exists (
  select 1 from masks
  where masks.organization_id = sessions.organization_id and masks.session_id = sessions.session_id
    and masks.finished_at is null)`;

/** Whether the content of the session may be removed now. */
export const mayLoseContent = (due: Due, version: number): RawBuilder<SqlBool> =>
  sql`${isOver(due)} and sessions.status <> 'active' and ${isDerived(due, version)} and ${IS_MASKED}
    and ${sql.raw(holdOf('sessions'))} is null`;

/** A range of sessions in the order of opening: after the first position, up to and including the second one. */
export interface Slice {
  after?: Opened | undefined;
  through?: Opened | undefined;
}

const within = ({ after, through }: Slice) => sql`
  ${after ? sql`and (created_at, session_id) > (${after.createdAt}, ${after.sessionId})` : sql``}
  ${through ? sql`and (created_at, session_id) <= (${through.createdAt}, ${through.sessionId})` : sql``}`;

/** The last of the next `size` old sessions after a position; undefined if there are fewer. */
export const endOfSlice = (db: Db, due: Due, after: Opened | undefined, size: number): Promise<Opened | undefined> =>
  firstRow(
    db,
    sql<Opened>`
      select created_at as "createdAt", session_id as "sessionId" from sessions
      where ${isOld(due)} ${within({ after })}
      order by created_at, session_id limit 1 offset ${size - 1}`,
  );

/** Lists the expired sessions of a slice that are not held, in the order of opening. */
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

/** Counts the expired sessions, separately for those that are held. */
export async function countDue(db: Db, due: Due): Promise<{ due: number; held: number }> {
  const row = await oneRow(
    db,
    sql<{ sessions: number | string; held: number | string }>`
      select count(*) as sessions, count(hold) as held
      from (select ${sql.raw(holdOf('sessions'))} as hold from sessions where ${isOver(due)}) as over`,
  );
  return { due: Number(row.sessions) - Number(row.held), held: Number(row.held) };
}

/** The number of sessions that a rule for the target concerns, whatever their age. */
export async function countOfTarget(db: Db, viewer: Viewer, { kind, id }: RetentionTarget): Promise<number> {
  if (kind === 'repository') return countOfRepository(db, viewer, id ?? '');
  const { sessions } = await oneRow(
    db,
    sql<{ sessions: number | string }>`
      select count(*) as sessions from sessions
      where organization_id = ${viewer.organizationId} and deleted_at is null
        ${kind === 'plane' ? sql`and plane = ${id}` : NONE}`,
  );
  return Number(sessions);
}

/** An organization and its rules. */
export interface Ruled {
  organizationId: string;
  rules: readonly RetentionRule[];
}

/** Lists some organizations after one, in the order of their ids. */
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
