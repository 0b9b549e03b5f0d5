import { join } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { storeOf } from '../agents/store.ts';
import type { Context } from '../context.ts';
import { isThere } from '../read/bytes.ts';
import { filesOf, findAgent, MovedTranscripts } from '../read/known-files.ts';
import type { FileRow } from '../spool/files.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';

/** A captured session with transcripts that are no longer on this machine. */
export interface GoneSession {
  session: SessionRow;
  /** The transcripts that are gone, and that can be written again where they were. */
  files: FileRow[];
  /** How many transcripts of it are gone in a form that only the agent writes, such as a database. */
  unwritable: number;
}

/**
 * Finds the sessions whose transcripts an agent or a person has deleted. Sessions that are kept back, or of which nothing was
 * sent, have nothing to come back.
 */
export function findGone(context: Context, spool: Spool, sessions: readonly SessionRow[]): GoneSession[] {
  const moved = new MovedTranscripts(context);
  return sessions.flatMap((session) => {
    if (session.verdict !== 'wanted' || session.sent === 0) return [];
    const rows = spool.files.ofSession(session.agent, session.agentSession);
    const gone = rows.filter((row) => isGone(row) && moved.find(row) === undefined);
    if (gone.length === 0) return [];
    const files = gone.filter((row) => isWritable(findAgent(context, row), row));
    return [{ session, files, unwritable: gone.length - files.length }];
  });
}

const isGone = ({ root, path }: FileRow) => filesOf(path).every((file) => !isThere(join(root, file)));

/**
 * A document or a database has facts beside the records, which its agent alone writes. Of an agent without `restored`, nobody has
 * checked that its records come back as they were.
 */
const isWritable = (agent: Agent | undefined, { path, cursor }: FileRow): boolean =>
  cursor.kind === 'file' &&
  agent?.restored !== undefined &&
  storeOf(agent, path) === undefined &&
  agent.isTranscript(path);
