import { Failures } from '../failures.ts';
import type { Db } from '../store/schema.ts';
import { listDeletedOrganizations, listRemainingSessions, removeOrganization } from './organization-end.ts';
import type { SessionEnds } from './session-ends.ts';

export interface OrganizationRemoval {
  db: Db;
  sessionLog: Pick<SessionEnds, 'delete'>;
  /** Removes what deleted sessions left in the store. */
  purge: () => Promise<void>;
  /** Called before the last row of an organization is deleted. */
  onRemoving?: (organizationId: string) => Promise<void>;
  signal: AbortSignal;
}

/**
 * Deletes the sessions of deleted organizations, and then the organizations. A later call continues after an interruption. An
 * organization that cannot be removed now is retried later, and does not delay the others.
 * @throws what failed, once every organization was tried
 */
export async function removeDeletedOrganizations({
  db,
  sessionLog,
  purge,
  onRemoving,
  signal,
}: OrganizationRemoval): Promise<void> {
  const organizations = await listDeletedOrganizations(db);
  if (organizations.length === 0) return;
  const failures = new Failures();
  const eachOf = async (ids: readonly string[], work: (organizationId: string) => Promise<unknown>) => {
    const done: string[] = [];
    for (const organizationId of ids) {
      if (signal.aborted) break;
      if (await failures.try(() => work(organizationId))) done.push(organizationId);
    }
    return done;
  };
  const emptied = await eachOf(organizations, (organizationId) => deleteSessions(organizationId));
  if (signal.aborted) return;
  await purge();
  await eachOf(emptied, async (organizationId) => {
    await removeOrganization(db, organizationId, async () => onRemoving?.(organizationId));
  });
  failures.throw();

  async function deleteSessions(organizationId: string): Promise<void> {
    const list = () => listRemainingSessions(db, organizationId);
    for (let sessions = await list(); sessions.length > 0; sessions = await list()) {
      for (const sessionId of sessions) {
        if (signal.aborted) return;
        await sessionLog.delete({ organizationId, sessionId });
      }
    }
  }
}
