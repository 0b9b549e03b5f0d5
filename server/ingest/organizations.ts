import type { Db } from '../store/open.ts';
import { listDeletedOrganizations, listRemainingSessions, removeOrganization } from '../store/organization-end.ts';
import type { SessionLog } from './session-log.ts';

export interface Removal {
  db: Db;
  sessionLog: Pick<SessionLog, 'delete'>;
  /** Removes what deleted sessions have left. */
  sweep: () => Promise<void>;
  signal: AbortSignal;
}

/**
 * Deletes the sessions of deleted organizations as a person would, and then the organizations; goes on where another
 * process stopped, and leaves what cannot be removed now to the next time.
 */
export async function removeDeletedOrganizations({ db, sessionLog, sweep, signal }: Removal): Promise<void> {
  const organizations = await listDeletedOrganizations(db);
  for (const organizationId of organizations) {
    for (let sessions = await list(); sessions.length > 0 && !signal.aborted; sessions = await list()) {
      for (const sessionId of sessions) {
        if (signal.aborted) return;
        await sessionLog.delete({ organizationId, sessionId });
      }
    }
    function list(): Promise<string[]> {
      return listRemainingSessions(db, organizationId);
    }
  }
  if (organizations.length === 0 || signal.aborted) return;
  await sweep();
  for (const organizationId of organizations) await removeOrganization(db, organizationId);
}
