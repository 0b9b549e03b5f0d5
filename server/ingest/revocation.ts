import type { Background } from '../background.ts';
import { Failures } from '../failures.ts';
import { findRevokedWithOpen } from '../store/revocation.ts';
import type { Db, EnvironmentRow, MemberKey } from '../store/schema.ts';
import type { ClosingSome, SessionLog } from './session-log.ts';

export interface RevocationOptions {
  db: Db;
  sessionLog: Pick<SessionLog, 'revoke' | 'closeSomeOf'>;
  background: Pick<Background, 'run' | 'signal'>;
}

export interface Revocation {
  /**
   * Revokes a machine and closes its open sessions as failed: the newest before it resolves, the rest soon afterwards.
   * Resolves with undefined if there is no such machine.
   */
  revoke(revoker: MemberKey, environmentId: string): Promise<EnvironmentRow | undefined>;
  /**
   * Closes the sessions of revoked machines that are still open because closing them was interrupted or failed.
   * @throws what failed, after all other sessions were closed
   */
  resume(signal: AbortSignal): Promise<void>;
}

/** How many batches of 500 sessions are closed before the response. Few machines have more. */
const BATCHES_BEFORE_ANSWER = 4;

export function createRevocation({ db, sessionLog, background }: RevocationOptions): Revocation {
  /** @returns the last session of these batches; undefined if no session is left */
  async function close(
    machine: EnvironmentRow,
    batches: number,
    how: ClosingSome,
    before?: string,
  ): Promise<string | undefined> {
    let next = await sessionLog.closeSomeOf(machine, before, how);
    for (let done = 1; next !== undefined && done < batches && !how.signal.aborted; done++) {
      next = await sessionLog.closeSomeOf(machine, next, how);
    }
    return next;
  }

  /** @throws what failed, after all other sessions were closed */
  async function closeAll(machine: EnvironmentRow, signal: AbortSignal, before?: string): Promise<void> {
    const failures = new Failures();
    const onFailed = (error: unknown) => failures.note(error);
    await close(machine, Number.POSITIVE_INFINITY, { signal, onFailed }, before);
    failures.throw();
  }

  return {
    async revoke(revoker, environmentId) {
      const machine = await sessionLog.revoke(revoker, environmentId);
      if (!machine) return undefined;
      // A person waits for the response, so the first failure ends it. `resume` closes the rest.
      const onFailed = (error: unknown) => {
        throw error;
      };
      const next = await close(machine, BATCHES_BEFORE_ANSWER, { signal: background.signal, onFailed });
      if (next !== undefined) {
        void background.run(`revoked ${environmentId}`, (signal) => closeAll(machine, signal, next));
      }
      return machine;
    },

    async resume(signal) {
      const failures = new Failures();
      for (let machine = await findRevokedWithOpen(db, ''); machine && !signal.aborted; ) {
        const revoked = machine;
        await failures.try(() => closeAll(revoked, signal));
        machine = await findRevokedWithOpen(db, machine.environment_id);
      }
      failures.throw();
    },
  };
}
