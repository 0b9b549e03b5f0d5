import type { AgentId } from '../../contract/agent.ts';
import { Problem } from '../../contract/problem.ts';
import type { Plane } from '../../contract/secret.ts';
import { newId } from '../ids.ts';
import { forShare } from './dialect.ts';
import { environmentUnusable, findEnvironment } from './environments.ts';
import { findInstallation } from './installations.ts';
import type { Db } from './open.ts';
import type { SessionRow } from './schema.ts';

/** A session to be opened. */
export interface Opening {
  organizationId: string;
  plane: Plane;
  secretId: string;
  environmentId: string;
  installationId: string;
  /** Where given, it must be the installation's. */
  agentId: string | undefined;
  title: string | undefined;
  repoRoot: string | undefined;
  gitBranch: string | undefined;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** How the client finds the session again, if it may. */
  capture?: Capture | undefined;
}

/** What a client tells of a session that it knows under a key of its own. */
export interface Capture {
  clientKey: string;
  /** Keys of other sessions of the client. */
  continues: string | undefined;
  forkedFrom: string | undefined;
  /** Milliseconds since the epoch. */
  endedAt: number | undefined;
}

/**
 * Opens a session on an active machine and an active installation of it, both of which are held while it is written: who
 * revokes the machine at the same moment finds the session, or is found.
 * @throws Problem `environment_unusable`, `installation_unusable`, `validation_failed`
 */
export async function openSession(db: Db, opening: Opening, now: number): Promise<SessionRow> {
  return (await insertOpened(db, opening, now)) ?? Promise.reject(await whyNot(db, opening));
}

/** The session as written; undefined when its machine or agent is not usable, or its key is taken or was deleted. */
export function insertOpened(db: Db, opening: Opening, now: number): Promise<SessionRow | undefined> {
  const { organizationId, plane, agentId, capture } = opening;
  const usable = db
    .selectFrom('environments')
    .innerJoin('installations', 'installations.organization_id', 'environments.organization_id')
    .where('environments.organization_id', '=', organizationId)
    .where('environments.environment_id', '=', opening.environmentId)
    .where('environments.status', '=', 'active')
    .where('installations.installation_id', '=', opening.installationId)
    .where('installations.status', '=', 'active')
    .where((row) =>
      row.or([
        row('installations.environment_id', 'is', null),
        row('installations.environment_id', '=', row.ref('environments.environment_id')),
      ]),
    )
    .$if(agentId !== undefined, (query) => query.where('installations.agent_id', '=', agentId as AgentId))
    .$if(capture !== undefined, (query) =>
      query.where((row) =>
        row.not(
          row.exists(
            row
              .selectFrom('deleted_sessions')
              .select('session_id')
              .where('organization_id', '=', organizationId)
              .where('plane', '=', plane)
              .where('client_key', '=', capture?.clientKey ?? null),
          ),
        ),
      ),
    )
    .select((row) => [
      row.val(newId('ses', now)).as('session_id'),
      'environments.organization_id',
      'environments.environment_id',
      'installations.installation_id',
      'installations.agent_id',
      row.val(opening.secretId).as('secret_id'),
      row.val(plane).as('plane'),
      row.val('active' as const).as('status'),
      row.val(opening.title ?? null).as('title'),
      row.val(opening.repoRoot ?? null).as('repo_root'),
      row.val(opening.gitBranch ?? null).as('git_branch'),
      row.val(opening.startedAt).as('started_at'),
      row.val(0).as('event_count'),
      row.val(capture?.clientKey ?? null).as('client_key'),
      row.val(capture?.continues ?? null).as('continues_key'),
      row.val(capture?.forkedFrom ?? null).as('forked_from_key'),
      row.val(capture?.endedAt ?? null).as('client_ended_at'),
      row.val(now).as('created_at'),
      row.val(now).as('updated_at'),
    ]);
  return db
    .insertInto('sessions')
    .columns(COLUMNS)
    .expression(forShare(db, usable))
    .$if(capture !== undefined, (query) =>
      query.onConflict((conflict) =>
        conflict.columns(['organization_id', 'plane', 'client_key']).where('client_key', 'is not', null).doNothing(),
      ),
    )
    .returningAll()
    .executeTakeFirst();
}

/** The selection's order. */
const COLUMNS = [
  'session_id',
  'organization_id',
  'environment_id',
  'installation_id',
  'agent_id',
  'secret_id',
  'plane',
  'status',
  'title',
  'repo_root',
  'git_branch',
  'started_at',
  'event_count',
  'client_key',
  'continues_key',
  'forked_from_key',
  'client_ended_at',
  'created_at',
  'updated_at',
] as const;

/** What is wrong with what the session was to be opened on. */
export async function whyNot(
  db: Db,
  { organizationId, environmentId, installationId, agentId }: Opening,
): Promise<Problem> {
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
