import type { DatabaseSync } from 'node:sqlite';
import { SENT } from './batches.ts';

/** Why a session's batches stay in the spool although the service accepts others. */
export interface Hold {
  /**
   * `held`: the service, or a proxy on the way, does not accept the session's events. `refused`: the service refused an event
   * and has accepted no other since, so the fault may be its own.
   */
  state: 'held' | 'refused';
  sentence: string;
  hint?: string | undefined;
  /** The exit code of a command that ends for this reason. */
  exitCode: number;
  /** When the session is tried again, in milliseconds since 1970. */
  until: number;
}

export interface HeldSession extends Hold {
  agent: string;
  agentSession: string;
}

/** Sessions that the sender does not try for now. They are stored here, so that neither a crash nor a restart loses them. */
export function createHolds(db: DatabaseSync) {
  const set = db.prepare('UPDATE sessions SET sending = ?, held_why = ?, held_until = ? WHERE id = ?');
  const RELEASED = "sending = 'waiting', held_why = NULL, held_until = NULL";
  const takeEvents = db.prepare(
    `UPDATE sessions SET ${RELEASED}, reopenings = 0 WHERE id = ? AND (sending <> 'waiting' OR reopenings > 0)`,
  );
  const releaseRefused = db.prepare(`UPDATE sessions SET ${RELEASED} WHERE sending = 'refused'`);
  const releaseAll = db.prepare(
    `UPDATE sessions SET ${RELEASED}, reopenings = 0 WHERE sending <> 'waiting' OR reopenings > 0`,
  );
  const countReopening = db.prepare(
    'UPDATE sessions SET reopenings = reopenings + 1 WHERE id = ? RETURNING reopenings',
  );
  const list = db.prepare(`
    SELECT agent, agent_session, sending, held_why, held_until FROM sessions WHERE sending <> 'waiting'
      AND EXISTS (SELECT 1 FROM batches WHERE session = sessions.id AND ${SENT})
    ORDER BY held_until, id`);

  return {
    hold(session: number, { state, until, sentence, hint, exitCode }: Hold): void {
      set.run(state, JSON.stringify({ sentence, hint, exitCode }), until, session);
    },
    /** Ends a session's hold, because the service accepts its events. */
    release: (session: number) => takeEvents.run(session),
    /** Ends the holds of refused sessions, because the service accepts events again. */
    releaseRefused: () => releaseRefused.run(),
    /** Ends all holds, because a person wants every session tried now. */
    releaseAll: () => releaseAll.run(),
    /** How often in a row the service has reported the session as closed or unknown, including this time. */
    countReopening: (session: number): number => Number(countReopening.get(session)?.reopenings),
    /** Sessions with waiting batches, ordered by the time of their next try. */
    list: (): HeldSession[] =>
      list.all().map((row) => ({
        agent: String(row.agent),
        agentSession: String(row.agent_session),
        state: row.sending as Hold['state'],
        until: Number(row.held_until),
        ...(JSON.parse(String(row.held_why)) as Pick<Hold, 'sentence' | 'hint' | 'exitCode'>),
      })),
  };
}
