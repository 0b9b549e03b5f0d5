import type { Origin } from '../agents/agent.ts';

/** The known beginning of a session. */
export interface Beginning {
  session: string;
  folder?: string | undefined;
  /** Milliseconds since 1970. Undefined if capture never met the session: nobody knows when it began. */
  startedAt?: number | undefined;
  /** The sessions that it was forked from. */
  parents?: readonly string[] | undefined;
}

/** Finds a session that capture has met. */
export type FindBeginning = (session: string) => Beginning | undefined;

/** The beginning of the session that a transcript belongs to. A sub-agent's transcript begins later than its session. */
export function beginningOf(
  { origin, startedAt }: { origin: Origin; startedAt: number },
  find: FindBeginning,
): Beginning {
  const { session, forkedFrom, cwd } = origin;
  const { startedAt: met = startedAt, parents = [] } = find(session) ?? {};
  return {
    session,
    folder: cwd,
    startedAt: Math.min(met, startedAt),
    parents: forkedFrom === undefined ? parents : [...parents, forkedFrom],
  };
}

/** A session and its ancestors. */
export function lineageOf(session: Beginning, find: FindBeginning): Beginning[] {
  const lineage = [session];
  const known = new Set([session.session]);
  for (const { parents = [] } of lineage) {
    for (const parent of parents) {
      if (known.has(parent)) continue;
      known.add(parent);
      lineage.push(find(parent) ?? { session: parent });
    }
  }
  return lineage;
}
