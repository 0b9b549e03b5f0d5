import type { AuditParty } from '../../contract/audit.ts';
import { Failures } from '../failures.ts';
import { person } from '../store/audit-chain.ts';
import type { Db } from '../store/schema.ts';
import { endPersonDeletion, listPersonDeletions, listSessionsToDelete } from './departures.ts';
import { listDeletedOrganizations, listRemainingSessions, removeOrganization } from './organization-end.ts';
import type { SessionEnds } from './session-ends.ts';

/* Sessions that are deleted together: those of people who were removed with their sessions, and those of ended organizations. */

/** How many sessions one query lists. */
const AT_ONCE = 500;

interface SessionGroup {
  organizationId: string;
  /** The actor in the audit log; absent: the audit log ends, too. */
  by?: AuditParty;
  /** Lists some of the sessions that are left, in the order of their ids, after one. */
  list: (after: string, limit: number) => Promise<string[]>;
  /** Called after all sessions were tried. It must check whether some are left. */
  end: () => Promise<unknown>;
}

interface Deleting {
  db: Db;
  sessionLog: Pick<SessionEnds, 'delete'>;
  signal: AbortSignal;
}

export interface OrganizationRemoval extends Deleting {
  /** Removes what deleted sessions left in the store. */
  purge: () => Promise<void>;
  /** Called before the last row of an organization is deleted. */
  onRemoving?: (organizationId: string) => Promise<void>;
}

/** Deletes the sessions of people who were removed together with their sessions. @throws as `deleteGroups` */
export async function deleteSessionsOfRemoved(options: Deleting): Promise<void> {
  const { db } = options;
  const groups = (await listPersonDeletions(db)).map((request) => ({
    organizationId: request.organization_id,
    by: person(request.actor_id),
    list: (after: string, limit: number) => listSessionsToDelete(db, request, after, limit),
    end: () => endPersonDeletion(db, request),
  }));
  await deleteGroups(groups, options);
}

/** Deletes the sessions of deleted organizations, and then the organizations. @throws as `deleteGroups` */
export async function removeDeletedOrganizations(options: OrganizationRemoval): Promise<void> {
  const { db, onRemoving } = options;
  const groups = (await listDeletedOrganizations(db)).map((organizationId) => ({
    organizationId,
    list: (after: string, limit: number) => listRemainingSessions(db, organizationId, after, limit),
    end: () => removeOrganization(db, organizationId, async () => onRemoving?.(organizationId)),
  }));
  await deleteGroups(groups, options);
}

/**
 * Deletes the sessions of each group, and then ends the groups. A later call continues after an interruption. A session or a
 * group that cannot be deleted now is retried later, and does not delay the others.
 * @throws what failed, after all others were tried
 */
async function deleteGroups(
  groups: readonly SessionGroup[],
  { sessionLog, signal, purge }: Omit<Deleting, 'db'> & { purge?: () => Promise<void> },
): Promise<void> {
  if (groups.length === 0) return;
  const failures = new Failures();
  for (const group of groups) await failures.try(() => deleteSessions(group));
  if (!signal.aborted) await purge?.();
  for (const { end } of groups) if (!signal.aborted) await failures.try(end);
  failures.throw();

  async function deleteSessions({ organizationId, by, list }: SessionGroup): Promise<void> {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const sessions: string[] = await list(after, AT_ONCE);
      for (const sessionId of sessions) {
        if (signal.aborted) return;
        await failures.try(() => sessionLog.delete({ organizationId, sessionId }, by));
      }
      after = sessions.length < AT_ONCE ? undefined : sessions.at(-1);
    }
  }
}
