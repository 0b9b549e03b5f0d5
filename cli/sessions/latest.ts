import { ancestors } from '../privacy/patterns.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';

/** The session that was active last in a folder or one above it. */
export function latestIn(spool: Spool, folder: string): SessionRow | undefined {
  const around = new Set(ancestors(folder));
  const here = spool.sessions
    .list()
    .filter(({ agent, agentSession }) =>
      spool.files.ofSession(agent, agentSession).some(({ origin }) => origin.cwd && around.has(origin.cwd)),
    );
  return here.sort((one, other) => (one.lastAt ?? 0) - (other.lastAt ?? 0)).at(-1);
}
