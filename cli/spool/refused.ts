import type { DatabaseSync } from 'node:sqlite';

/** An event that the service refused, and why. */
export interface Refused {
  session: number;
  /** Its JSON text. */
  event: string;
  problem: string;
  /** Milliseconds since 1970. */
  refusedAt: number;
}

/** Events that the service refused. They are set aside until a person has them sent again or throws them away. */
export function createRefused(db: DatabaseSync) {
  const insert = db.prepare('INSERT INTO refused (session, event, problem, refused_at) VALUES (?, ?, ?, ?)');
  const all = db.prepare('SELECT session, event, problem, refused_at FROM refused ORDER BY session, id');
  const ofSession = db.prepare('SELECT event FROM refused WHERE session = ? ORDER BY id');
  const perProblem = db.prepare(
    'SELECT problem, count(*) AS events FROM refused GROUP BY problem ORDER BY events DESC LIMIT 5',
  );
  const count = db.prepare('SELECT count(*) AS events FROM refused');
  const perSession = db.prepare('SELECT session, count(*) AS events FROM refused GROUP BY session');
  const removeSession = db.prepare('DELETE FROM refused WHERE session = ?');

  return {
    add({ session, event, problem, refusedAt }: Refused): void {
      insert.run(session, event, problem, refusedAt);
    },
    /** All refused events, by session and in the order of refusal. */
    *list(): Generator<Refused> {
      for (const { session, event, problem, refused_at: at } of all.iterate()) {
        yield { session: Number(session), event: String(event), problem: String(problem), refusedAt: Number(at) };
      }
    },
    /** The JSON texts of a session's refused events. */
    ofSession: (session: number): string[] => ofSession.all(session).map(({ event }) => String(event)),
    count: (): number => Number(count.get()?.events),
    /** The number of refused events per session. */
    perSession: () => new Map(perSession.all().map(({ session, events }) => [Number(session), Number(events)])),
    /** The most frequent reasons. */
    perProblem: () =>
      perProblem.all().map(({ problem, events }) => ({ problem: String(problem), events: Number(events) })),
    /** Returns how many events were removed. */
    removeSession: (session: number): number => Number(removeSession.run(session).changes),
    /** Returns how many events were removed. */
    removeAll: (): number => Number(db.prepare('DELETE FROM refused').run().changes),
  };
}
