import { Failures } from '../failures.ts';
import { person } from '../store/audit-chain.ts';
import type { Db, PersonDeletionRow } from '../store/schema.ts';
import { endPersonDeletion, listPersonDeletions, listSessionsToDelete } from './departures.ts';
import type { SessionEnds } from './session-ends.ts';

export interface PersonDeletions {
  db: Db;
  sessionLog: Pick<SessionEnds, 'delete'>;
  signal: AbortSignal;
}

const AT_ONCE = 500;

/**
 * Deletes the sessions of people who were removed together with their sessions. A later call continues after an interruption.
 * A session that cannot be deleted now is retried later, and does not delay the others.
 * @throws what failed, after all other sessions were deleted
 */
export async function deleteSessionsOfRemoved({ db, sessionLog, signal }: PersonDeletions): Promise<void> {
  const failures = new Failures();
  for (const request of await listPersonDeletions(db)) {
    await deleteSessions(request);
    if (signal.aborted) return;
    await endPersonDeletion(db, request);
  }
  failures.throw();

  async function deleteSessions(request: PersonDeletionRow): Promise<void> {
    const { organization_id: organizationId, actor_id } = request;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const sessions: string[] = await listSessionsToDelete(db, request, after, AT_ONCE);
      for (const sessionId of sessions) {
        if (signal.aborted) return;
        await failures.try(() => sessionLog.delete({ organizationId, sessionId }, person(actor_id)));
      }
      after = sessions.length < AT_ONCE ? undefined : sessions.at(-1);
    }
  }
}
