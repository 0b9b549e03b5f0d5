import type { AuditParty } from '../../contract/audit.ts';
import type { SessionKey } from '../log/decide.ts';
import type { Unchanged } from './due-sessions.ts';

/** Ends sessions in the log of sessions, which refuses that under a hold. `SessionLog` says more. */
export interface SessionEnds {
  delete(place: SessionKey, by?: AuditParty): Promise<void>;
  expire(session: Unchanged): Promise<void>;
  abandon(session: Unchanged & { updatedAt: number }): Promise<void>;
}
