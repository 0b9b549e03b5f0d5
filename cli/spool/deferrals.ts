import type { DatabaseSync } from 'node:sqlite';
import { SENT } from './batches.ts';

/** Why and until when a session's batches stay in the spool, although the service accepts others. */
export interface Deferral {
  /**
   * `deferred`: the service, or a proxy on the way, does not accept the session's events. `refused`: the service refused an event
   * and has accepted no other since, so the fault may be its own.
   */
  state: 'deferred' | 'refused';
  sentence: string;
  hint?: string | undefined;
  /** The exit code of a command that ends for this reason. */
  exitCode: number;
  /** When the session is tried again, in milliseconds since 1970. */
  until: number;
}

export interface DeferredSession extends Deferral {
  agent: string;
  agentSession: string;
}

/** Sessions that are sent later. They are stored here, so that neither a crash nor a restart loses them. */
export function createDeferrals(db: DatabaseSync) {
  const set = db.prepare('UPDATE sessions SET sending = ?, deferred_why = ?, deferred_until = ? WHERE id = ?');
  const ENDED = "sending = 'waiting', deferred_why = NULL, deferred_until = NULL";
  const end = db.prepare(
    `UPDATE sessions SET ${ENDED}, reopenings = 0 WHERE id = ? AND (sending <> 'waiting' OR reopenings > 0)`,
  );
  const endRefused = db.prepare(`UPDATE sessions SET ${ENDED} WHERE sending = 'refused'`);
  const endAll = db.prepare(
    `UPDATE sessions SET ${ENDED}, reopenings = 0 WHERE sending <> 'waiting' OR reopenings > 0`,
  );
  const countReopening = db.prepare(
    'UPDATE sessions SET reopenings = reopenings + 1 WHERE id = ? RETURNING reopenings',
  );
  const list = db.prepare(`
    SELECT agent, agent_session, sending, deferred_why, deferred_until FROM sessions WHERE sending <> 'waiting'
      AND EXISTS (SELECT 1 FROM batches WHERE session = sessions.id AND ${SENT})
    ORDER BY deferred_until, id`);

  return {
    defer(session: number, { state, until, sentence, hint, exitCode }: Deferral): void {
      set.run(state, JSON.stringify({ sentence, hint, exitCode }), until, session);
    },
    /** Ends the deferral of a session, because the service accepts its events. */
    end: (session: number) => end.run(session),
    /** Ends the deferrals of refused sessions, because the service accepts events again. */
    endRefused: () => endRefused.run(),
    /** Ends all deferrals, because a person wants each of them tried now. */
    endAll: () => endAll.run(),
    /** How often in a row the service has reported the session as closed or unknown, including this time. */
    countReopening: (session: number): number => Number(countReopening.get(session)?.reopenings),
    /** Sessions with waiting batches, ordered by the time of their next try. */
    list: (): DeferredSession[] =>
      list.all().map((row) => ({
        agent: String(row.agent),
        agentSession: String(row.agent_session),
        state: row.sending as Deferral['state'],
        until: Number(row.deferred_until),
        ...(JSON.parse(String(row.deferred_why)) as Pick<Deferral, 'sentence' | 'hint' | 'exitCode'>),
      })),
  };
}
