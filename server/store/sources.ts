import { sql } from 'kysely';
import { firstRow } from './rows.ts';
import type { Db, SessionRow } from './schema.ts';

/** A session to derive. */
export interface SessionSource {
  row: SessionRow;
  /** Remote of its repository: of its opening, or of another session of its plane or the machine in the same folder. */
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

export interface Behind {
  organizationId: string;
  sessionId: string;
}

/** Sessions that are behind, and where the next page begins; undefined at the end. */
interface Page {
  behind: Behind[];
  next: string | undefined;
}

const PAGE = 1_000;

const withFacts = (db: Db) =>
  db
    .selectFrom('sessions')
    .leftJoin('session_facts', 'session_facts.session_id', 'sessions.session_id')
    .select(['sessions.session_id', 'sessions.organization_id', 'sessions.event_count', 'sessions.status'])
    .select([
      'sessions.deleted_at',
      'session_facts.version',
      'session_facts.derived_through',
      'session_facts.is_final',
    ]);

type Found = Awaited<ReturnType<ReturnType<typeof withFacts>['execute']>>[number];

const behindOf = (rows: readonly Found[], version: number): Behind[] =>
  rows
    .filter((row) => row.deleted_at === null)
    .filter((row) => {
      const isClosed = row.status !== 'active' && row.is_final === 0;
      return (row.version ?? -1) < version || (row.derived_through ?? 0) < row.event_count || isClosed;
    })
    .map((row) => ({ organizationId: row.organization_id, sessionId: row.session_id }));

const pageOf = (rows: readonly Found[], version: number): Page => ({
  behind: behindOf(rows, version),
  next: rows.length < PAGE ? undefined : rows.at(-1)?.session_id,
});

/** Finds sessions before `before`, newest first, that this version has not derived through their last event. */
export async function findBehind(db: Db, version: number, before: string | undefined): Promise<Page> {
  const rows = await withFacts(db)
    // Session ids sort by the time of opening.
    .$if(before !== undefined, (query) => query.where('sessions.session_id', '<', before as string))
    .orderBy('sessions.session_id', 'desc')
    .limit(PAGE)
    .execute();
  return pageOf(rows, version);
}

/** The same among the sessions that may get more events; no others are read. */
export async function findOpenBehind(db: Db, version: number, before: string | undefined): Promise<Page> {
  const rows = await withFacts(db)
    .where('session_facts.is_final', '=', sql.lit(0))
    .$if(before !== undefined, (query) => query.where('session_facts.session_id', '<', before as string))
    .orderBy('session_facts.session_id', 'desc')
    .limit(PAGE)
    .execute();
  return pageOf(rows, version);
}

/** The same among the sessions that were opened since a time, which may have no derived data yet. */
export async function findNewBehind(db: Db, version: number, since: number, after: string | undefined): Promise<Page> {
  const rows = await withFacts(db)
    .select('sessions.created_at')
    .where('sessions.created_at', '>=', since)
    .$if(after !== undefined, (query) => {
      const [time = '', sessionId = ''] = (after as string).split(' ');
      return query.where(sql<boolean>`(sessions.created_at, sessions.session_id) > (${Number(time)}, ${sessionId})`);
    })
    .orderBy('sessions.created_at')
    .orderBy('sessions.session_id')
    .limit(PAGE)
    .execute();
  const last = rows.length < PAGE ? undefined : rows.at(-1);
  return { behind: behindOf(rows, version), next: last && `${last.created_at} ${last.session_id}` };
}
