import { sql } from 'kysely';
import { Problem } from '../../contract/problem.ts';
import { addressOf } from '../../contract/repository.ts';
import type { Plane } from '../../contract/secret.ts';
import { strictestOf, type Visibility } from '../../contract/session.ts';
import { newId } from '../ids.ts';
import { forShare } from './dialect.ts';
import { environmentUnusable, findEnvironment } from './environments.ts';
import { findInstallation } from './installations.ts';
import { findCaptured, findDeleted, findSender, mayInheritFrom } from './ownership.ts';
import { readPolicy } from './policies.ts';
import { findRemoval } from './removals.ts';
import { allRows, firstRow, NONE } from './rows.ts';
import { insertSaltKeys } from './salt-keys.ts';
import type { Db, SessionRow } from './schema.ts';

/** A request to open a session. */
export interface Opening {
  organizationId: string;
  plane: Plane;
  secretId: string;
  environmentId: string;
  installationId: string;
  /** If given, it must be the agent of the installation. */
  agentId: string | undefined;
  title: string | undefined;
  repoRoot: string | undefined;
  /** Its git remote, in any form. */
  repoRemote?: string | undefined;
  gitBranch: string | undefined;
  /** The visibility that the client requests, if any. */
  visibility?: Visibility | undefined;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Present for a session that its client can find again. */
  capture?: Capture | undefined;
}

/** Data with which a client finds and links its sessions. */
export interface Capture {
  clientKey: string;
  /** The client key of the session that this one continues. */
  continues: string | undefined;
  /** The client key of the session that this one was forked from. */
  forkedFrom: string | undefined;
  /** Milliseconds since the epoch. */
  endedAt: number | undefined;
}

/**
 * Opens a session on an active machine with an active installation, in a transaction. Both rows are locked, so that a concurrent revocation
 * either sees the session or makes the insertion fail.
 * @throws Problem `environment_unusable`, `installation_unusable`, `validation_failed`
 */
export async function openSession(transaction: Db, opening: Opening, now: number): Promise<SessionRow> {
  const visibility = await visibilityOf(transaction, opening);
  const row = await insertOpened(transaction, { ...opening, visibility }, now);
  return row ?? Promise.reject(await whyNot(transaction, opening));
}

/** The strictest of the requested visibility, the default of the organization, and the visibilities of the parent sessions. */
const visibilityOf = async (db: Db, opening: Opening): Promise<Visibility> =>
  strictestOf(
    opening.visibility,
    (await readPolicy(db, opening.organizationId)).visibility,
    ...(await visibilitiesOfParents(db, opening)),
  );

/**
 * The visibilities of the sessions that it continues or was forked from, because a person may have hidden these. Only sessions of
 * the sender count. Members can compute the keys of others, and would otherwise learn who may see those sessions.
 */
async function visibilitiesOfParents(
  db: Db,
  { organizationId, plane, secretId, capture }: Opening,
): Promise<Visibility[]> {
  const keys = [capture?.continues, capture?.forkedFrom].filter((key) => key !== undefined);
  if (keys.length === 0) return [];
  const rows = await allRows(
    db,
    sql<SessionRow>`
      select * from sessions
      where organization_id = ${organizationId} and plane = ${plane} and client_key in (${sql.join(keys)})
        and visibility <> 'team'`,
  );
  if (rows.length === 0) return [];
  const sender = await findSender(db, { organizationId, secretId });
  return rows.filter((row) => mayInheritFrom(row, sender)).map(({ visibility }) => visibility);
}

const MAX_REPOSITORY = 300;

/** The normal form of the remote, which contains no credentials. */
const repositoryOf = ({ repoRemote }: Opening): string | null =>
  (repoRemote === undefined ? undefined : addressOf(repoRemote)?.slice(0, MAX_REPOSITORY)) ?? null;

/**
 * Inserts the session with its visibility and with a key for the salts of its events.
 * @returns undefined if its machine or agent cannot be used, or its key is taken or belongs to a deleted session
 */
async function insertOpened(
  db: Db,
  opening: Opening & { visibility: Visibility },
  now: number,
): Promise<SessionRow | undefined> {
  const { organizationId, plane, secretId, environmentId, installationId, agentId, capture } = opening;
  const { title = null, repoRoot = null, gitBranch = null, startedAt, visibility } = opening;
  const { clientKey = null, continues = null, forkedFrom = null, endedAt = null } = capture ?? {};
  // No session is its own parent, whatever its client says.
  const parent = forkedFrom === clientKey ? null : forkedFrom;
  const row = await firstRow(
    db,
    sql<SessionRow>`
      insert into sessions (session_id, organization_id, environment_id, installation_id, agent_id, secret_id, plane,
        status, title, repo_root, repository, git_branch, started_at, event_count, client_key, continues_key, forked_from_key,
        client_ended_at, user_id, visibility, created_at, updated_at)
      select ${newId('ses', now)}, environments.organization_id, environments.environment_id,
        installations.installation_id, installations.agent_id, ${secretId}, ${plane}, 'active', ${title},
        ${repoRoot}, ${repositoryOf(opening)}, ${gitBranch}, ${startedAt}, 0, ${clientKey}, ${continues}, ${parent},
        ${endedAt}, ${personOf(opening)}, ${visibility}, ${now}, ${now}
      from environments join installations on installations.organization_id = environments.organization_id
      where environments.organization_id = ${organizationId} and environments.environment_id = ${environmentId}
        and environments.status = 'active'
        and installations.installation_id = ${installationId} and installations.status = 'active'
        and (installations.environment_id is null or installations.environment_id = environments.environment_id)
        ${agentId === undefined ? NONE : sql`and installations.agent_id = ${agentId}`}
        and not exists (
          select 1 from removals
          where organization_id = ${organizationId} and plane = ${plane} and client_key = ${clientKey} and what = 'session')
      ${forShare(db)}
      on conflict (organization_id, plane, client_key) where client_key is not null do nothing
      returning *`,
  );
  if (row) await insertSaltKeys(db, { organizationId, sessionId: row.session_id });
  return row;
}

/**
 * An expression for the person of a new session, within a query of the machine. If a secret sends from another machine than its
 * own, the session belongs to the person of the secret, because several machines may have the same name.
 */
const personOf = ({ organizationId, secretId }: Opening) => {
  const ofSecret = sql`select user_id from secrets where organization_id = ${organizationId} and secret_id = ${secretId}`;
  return sql`coalesce(
    (${ofSecret} and environment_id is distinct from environments.environment_id), environments.user_id, (${ofSecret}))`;
};

/** Finds out why the session could not be opened. */
async function whyNot(db: Db, { organizationId, environmentId, installationId, agentId }: Opening): Promise<Problem> {
  const environment = await findEnvironment(db, organizationId, environmentId);
  if (environment?.status !== 'active') {
    return environmentUnusable();
  }
  const installation = await findInstallation(db, organizationId, installationId);
  const isHere = installation?.environment_id === null || installation?.environment_id === environmentId;
  if (installation?.status !== 'active' || !isHere) {
    return new Problem(
      'installation_unusable',
      '/agentInstallationId names no active agent installation of this environment. An admin may have disabled it.',
    );
  }
  if (agentId !== undefined && agentId !== installation.agent_id) {
    return new Problem('validation_failed', `/agentId differs from the installation's, ${installation.agent_id}.`);
  }
  return new Problem('service_unavailable', 'The machine or its agent changed meanwhile. Try again.', {
    retryAfter: 1,
  });
}

/** The outcome for one client key. */
export type Captured =
  | { outcome: 'opened' | 'found'; row: SessionRow }
  | { outcome: 'deleted' }
  | { outcome: 'expired'; eventCount: number; lastEventAt: number }
  | { outcome: 'refused'; problem: Problem };

export type CaptureOpening = Opening & { capture: Capture };

/**
 * Finds sessions by their client keys, and opens the missing ones, in one transaction. The results are in the given order. Two
 * requests with the same keys at the same time get the same sessions.
 */
export function captureSessions(db: Db, openings: readonly CaptureOpening[], now: number): Promise<Captured[]> {
  return db.transaction().execute(async (transaction) => {
    const answers = new Map<CaptureOpening, Captured>();
    // Sorted, so that two requests with the same keys cannot deadlock.
    const sorted = [...openings].sort((a, b) => (a.capture.clientKey < b.capture.clientKey ? -1 : 1));
    for (const opening of sorted) answers.set(opening, await captureSession(transaction, opening, now));
    return openings.map((opening) => answers.get(opening) as Captured);
  });
}

async function captureSession(db: Db, opening: CaptureOpening, now: number): Promise<Captured> {
  const { organizationId, plane, capture } = opening;
  const known = await findByKey(db, organizationId, plane, capture.clientKey);
  if (known) return known;
  const row = await insertOpened(db, { ...opening, visibility: await visibilityOf(db, opening) }, now);
  if (row) return { outcome: 'opened', row };
  const meanwhile = await findByKey(db, organizationId, plane, capture.clientKey);
  return meanwhile ?? { outcome: 'refused', problem: await whyNot(db, opening) };
}

async function findByKey(db: Db, organizationId: string, plane: Plane, key: string): Promise<Captured | undefined> {
  const row = await findCaptured(db, organizationId, plane, key);
  if (row && row.content_expired_at === null) return { outcome: 'found', row };
  // If its content has expired, its client continues in a new session, just as after a session that expired as a whole.
  const gone = row
    ? await findRemoval(db, { organizationId, sessionId: row.session_id }, 'content')
    : await findDeleted(db, organizationId, plane, key);
  if (!gone) return row && { outcome: 'found', row };
  const { event_count: eventCount, last_event_at: lastEventAt } = gone;
  return lastEventAt === null ? { outcome: 'deleted' } : { outcome: 'expired', eventCount, lastEventAt };
}
