import { sql } from 'kysely';
import { allRows, firstRow, NONE, type Sql } from './rows.ts';
import type { Db, SessionFactsRow, SessionRow } from './schema.ts';

/** A session that must be derived. */
export interface SessionSource {
  row: SessionRow;
  /**
   * The remote of its repository: the one from its opening, or else the one of another session of its plane in the same folder,
   * or else the one that the machine reported for that folder.
   */
  remote: string | null;
}

export async function findSource(
  db: Db,
  organizationId: string,
  sessionId: string,
): Promise<SessionSource | undefined> {
  // Folders are indexed by their first 300 characters.
  const found = await firstRow(
    db,
    sql<SessionRow & { remote: string | null }>`
      select sessions.*, coalesce(
        sessions.repository,
        (
          select neighbour.repository from sessions as neighbour
          where neighbour.organization_id = sessions.organization_id
            and neighbour.environment_id = sessions.environment_id
            and neighbour.repo_root = sessions.repo_root
            and substr(neighbour.repo_root, 1, 300) = substr(sessions.repo_root, 1, 300)
            and neighbour.plane = sessions.plane and neighbour.deleted_at is null
            and neighbour.repository is not null
          order by neighbour.repository limit 1
        ),
        (
          select repo_remote from environments
          where environments.organization_id = sessions.organization_id
            and environments.environment_id = sessions.environment_id
            and environments.repo_root = sessions.repo_root
        )
      ) as remote
      from sessions
      where organization_id = ${organizationId} and session_id = ${sessionId} and deleted_at is null`,
  );
  if (!found) return undefined;
  const { remote, ...row } = found;
  return { row, remote };
}

/** Sessions that are not derived completely, and where the next page begins; undefined at the end. */
interface Page {
  behind: { organizationId: string; sessionId: string }[];
  next: string | undefined;
}

const PAGE = 1_000;

type SourceRow = Pick<
  SessionRow,
  'session_id' | 'organization_id' | 'event_count' | 'status' | 'deleted_at' | 'created_at'
> & {
  [Column in 'version' | 'derived_through' | 'is_final']: SessionFactsRow[Column] | null;
};

/** @param which the conditions and the order */
const readPage = (db: Db, which: Sql): Promise<SourceRow[]> =>
  allRows(
    db,
    sql<SourceRow>`
      select sessions.session_id, sessions.organization_id, sessions.event_count, sessions.status, sessions.deleted_at,
        sessions.created_at, session_facts.version, session_facts.derived_through, session_facts.is_final
      from sessions left join session_facts on session_facts.session_id = sessions.session_id
      where ${which} limit ${PAGE}`,
  );

const lacksEvents = (row: SourceRow, version: number): boolean =>
  (row.version ?? -1) < version || (row.derived_through ?? 0) < row.event_count;

const behindOf = (rows: readonly SourceRow[], version: number): Page['behind'] =>
  rows
    .filter((row) => row.deleted_at === null)
    .filter((row) => {
      const isClosed = row.status !== 'active' && row.is_final === 0;
      return lacksEvents(row, version) || isClosed;
    })
    .map((row) => ({ organizationId: row.organization_id, sessionId: row.session_id }));

const pageOf = (rows: readonly SourceRow[], version: number): Page => ({
  behind: behindOf(rows, version),
  next: rows.length < PAGE ? undefined : rows.at(-1)?.session_id,
});

/** Finds sessions before `before`, newest first, that this version has not derived up to their last event. */
export async function findBehind(db: Db, version: number, before: string | undefined): Promise<Page> {
  // Session ids sort by the time of opening.
  const which = before === undefined ? sql`1 = 1` : sql`sessions.session_id < ${before}`;
  return pageOf(await readPage(db, sql`${which} order by sessions.session_id desc`), version);
}

/** Finds such sessions among those that may receive more events, without reading others. */
export async function findOpenBehind(db: Db, version: number, before: string | undefined): Promise<Page> {
  const further = before === undefined ? NONE : sql`and session_facts.session_id < ${before}`;
  const open = sql`session_facts.is_final = 0 ${further} order by session_facts.session_id desc`;
  return pageOf(await readPage(db, open), version);
}

/** Finds such sessions among those that were opened since a time, which may have no derived data yet; earliest first. */
export async function findNewBehind(db: Db, version: number, since: number, after: string | undefined): Promise<Page> {
  const [time, sessionId] = after?.split(' ') ?? [];
  const further = after && sql`and (sessions.created_at, sessions.session_id) > (${Number(time)}, ${sessionId})`;
  const opened = sql`
    sessions.created_at >= ${since} ${further || NONE} order by sessions.created_at, sessions.session_id`;
  const rows = await readPage(db, opened);
  const last = rows.length < PAGE ? undefined : rows.at(-1);
  return { behind: behindOf(rows, version), next: last && `${last.created_at} ${last.session_id}` };
}

/**
 * Whether derived data of the organization lacks events of one of its earliest or latest sessions. After a new version the earliest
 * are derived last, and after an outage the latest are behind. An organization may have a million sessions, so it reads no others.
 */
export async function isAnyBehind(db: Db, version: number, organizationId: string): Promise<boolean> {
  for (const order of [sql`asc`, sql`desc`]) {
    const page = sql`
      sessions.organization_id = ${organizationId} order by sessions.created_at ${order}, sessions.session_id ${order}`;
    const rows = await readPage(db, page);
    if (rows.some((row) => row.deleted_at === null && lacksEvents(row, version))) return true;
  }
  return false;
}
