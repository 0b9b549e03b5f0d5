import type { Db } from '../store/open.ts';
import { findRevokedWithOpen } from '../store/revocation.ts';
import type { EnvironmentRow } from '../store/schema.ts';
import type { SessionLog } from './session-log.ts';

export interface RevocationOptions {
  db: Db;
  sessionLog: Pick<SessionLog, 'revoke' | 'closeSomeOf'>;
  /** Does work beside the answers, once at a time under one name. */
  later: (name: string, work: () => Promise<void>) => void;
  signal: AbortSignal;
}

export interface Revocation {
  /**
   * Revokes a machine and closes its open sessions as failed: the newest before it returns, the rest soon afterwards.
   * Undefined when there is no such machine.
   */
  revoke(organizationId: string, environmentId: string): Promise<EnvironmentRow | undefined>;
  /** Closes what revoked machines have open still: this process or another one was interrupted, or the bus was away. */
  resume(): Promise<void>;
}

/** Batches of 500 sessions that are closed before the answer. More of them belong to nobody who works. */
const BATCHES_BEFORE_ANSWER = 4;

export function createRevocation({ db, sessionLog, later, signal }: RevocationOptions): Revocation {
  /** @returns where the rest begins; undefined: nothing is left */
  async function close(machine: EnvironmentRow, batches: number, before?: string): Promise<string | undefined> {
    let next = await sessionLog.closeSomeOf(machine, before);
    for (let done = 1; next !== undefined && done < batches && !signal.aborted; done++) {
      next = await sessionLog.closeSomeOf(machine, next);
    }
    return next;
  }

  return {
    async revoke(organizationId, environmentId) {
      const machine = await sessionLog.revoke(organizationId, environmentId);
      if (!machine) return undefined;
      const next = await close(machine, BATCHES_BEFORE_ANSWER);
      if (next !== undefined) {
        later(`revoked ${environmentId}`, async () => void (await close(machine, Number.POSITIVE_INFINITY, next)));
      }
      return machine;
    },

    async resume() {
      for (let machine = await findRevokedWithOpen(db, ''); machine && !signal.aborted; ) {
        await close(machine, Number.POSITIVE_INFINITY);
        machine = await findRevokedWithOpen(db, machine.environment_id);
      }
    },
  };
}
