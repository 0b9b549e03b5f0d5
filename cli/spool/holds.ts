import type { DatabaseSync } from 'node:sqlite';

/** Why a session's batches stay in the spool although the service accepts others. */
export interface Hold {
  /**
   * `held`: the service, or a proxy on the way, does not take the session's events. `refused`: it refused an event and has
   * taken no other since, so the service may be at fault.
   */
  state: 'held' | 'refused';
  sentence: string;
  hint?: string | undefined;
  /** The exit code of a command that ends for this reason. */
  exitCode: number;
  /** When it is tried again, in milliseconds since 1970. */
  until: number;
}

export interface HeldSession extends Hold {
  agent: string;
  agentSession: string;
}

/** Sessions that the sender leaves alone. They are kept here, so that neither a crash nor a restart loses them. */
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
      AND id NOT IN (SELECT session FROM kept_back) AND EXISTS (SELECT 1 FROM batches WHERE session = sessions.id)
    ORDER BY held_until, id`);

  return {
    hold(session: number, { state, until, sentence, hint, exitCode }: Hold): void {
      set.run(state, JSON.stringify({ sentence, hint, exitCode }), until, session);
    },
    /** The service takes the session's events. */
    release: (session: number) => takeEvents.run(session),
    /** The service takes events: refused ones are tried again. */
    releaseRefused: () => releaseRefused.run(),
    /** A person wants all of them tried now. */
    releaseAll: () => releaseAll.run(),
    /** How often in a row the service has said that the session is closed or unknown, this time included. */
    countReopening: (session: number): number => Number(countReopening.get(session)?.reopenings),
    /** Sessions with waiting batches, ordered by when they are tried. */
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
