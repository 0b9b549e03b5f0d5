import type { Db } from './open.ts';
import type { SessionRow } from './schema.ts';
import { findSession } from './sessions.ts';

/** A session that is to be derived. */
export interface SessionSource {
  row: SessionRow;
  /** Address of its repository, where its machine knows that of the same folder. */
  remote: string | null;
}

export async function findSource(
  db: Db,
  organizationId: string,
  sessionId: string,
): Promise<SessionSource | undefined> {
  const row = await findSession(db, organizationId, sessionId);
  if (!row) return undefined;
  const machine = await db
    .selectFrom('environments')
    .select(['repo_root', 'repo_remote'])
    .where('organization_id', '=', organizationId)
    .where('environment_id', '=', row.environment_id)
    .executeTakeFirst();
  const isThere = machine?.repo_root != null && machine.repo_root === row.repo_root;
  return { row, remote: isThere ? machine.repo_remote : null };
}

export interface Behind {
  organizationId: string;
  sessionId: string;
}

const LOOKED_AT_ONCE = 1_000;

/**
 * Of the sessions before `before`, newest first, those that are not derived through their last event by this version.
 * @returns also where to go on; undefined at the end
 */
export async function findBehind(
  db: Db,
  version: number,
  before: string | undefined,
): Promise<{ behind: Behind[]; next: string | undefined }> {
  const rows = await db
    .selectFrom('sessions')
    .leftJoin('session_facts', 'session_facts.session_id', 'sessions.session_id')
    .select(['sessions.session_id', 'sessions.organization_id', 'sessions.event_count', 'sessions.deleted_at'])
    .select(['session_facts.version', 'session_facts.derived_through'])
    // The ids of sessions sort as they were opened.
    .$if(before !== undefined, (query) => query.where('sessions.session_id', '<', before as string))
    .orderBy('sessions.session_id', 'desc')
    .limit(LOOKED_AT_ONCE)
    .execute();
  const behind = rows
    .filter((row) => row.deleted_at === null)
    .filter((row) => (row.version ?? -1) < version || (row.derived_through ?? 0) < row.event_count)
    .map((row) => ({ organizationId: row.organization_id, sessionId: row.session_id }));
  return { behind, next: rows.length < LOOKED_AT_ONCE ? undefined : rows.at(-1)?.session_id };
}
