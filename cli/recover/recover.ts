import { resolve } from 'node:path';
import type { SessionEvent } from '../../contract/event.ts';
import type { Agent } from '../agents/agent.ts';
import type { Context } from '../context.ts';
import { bytesOfFile } from '../read/bytes.ts';
import { cursorAt } from '../read/cursor.ts';
import type { GoneSession } from '../sessions/gone.ts';
import type { FileRow } from '../spool/files.ts';
import type { Spool } from '../spool/open.ts';
import { type RestoredTranscript, restoreTranscripts } from './transcripts.ts';
import { isPlainPath, type Unwritten, writeNew } from './write.ts';

/** What became of a transcript. */
export interface RecoveredFile {
  path: string;
  state: 'written' | Unwritten | 'absent';
  records: number;
  /** See `RestoredTranscript`. */
  inexact: number;
  incomplete: number;
}

export interface RecoveredSession {
  agent: string;
  session: string;
  /** Whether the service has the session, and shows it to this person. */
  isAtService: boolean;
  files: RecoveredFile[];
}

/** The events of a session of the service; see `createSessionReader`. */
export type ReadSession = (sessionId: string) => Promise<SessionEvent[] | undefined>;

interface Recovery {
  context: Context;
  spool: Spool;
  agent: Agent;
  readSession: ReadSession;
  /** Writes copies below this folder, and nothing where the agent looks. */
  to?: string | undefined;
}

/** Writes the transcripts of a session again, as its events have them. */
export async function recoverSession(recovery: Recovery, { session, files }: GoneSession): Promise<RecoveredSession> {
  const { agent, spool, readSession, to } = recovery;
  const parts: SessionEvent[][] = [];
  for (const id of spool.sessions.serviceIds(session.id)) parts.push((await readSession(id)) ?? []);
  const events = parts.flat();
  const restored = restoreTranscripts(agent, events);
  const named = { agent: session.agent, session: session.agentSession, isAtService: events.length > 0 };
  if (to !== undefined) return { ...named, files: restored.map((one) => writeCopy(recovery, one)) };
  return { ...named, files: files.map((row) => writeBack(spool, row, restored)) };
}

/**
 * Writes a transcript where the agent had it. Root and path come from this machine alone. Its cursor is set before the file
 * appears, so that capture does not read its records again. It counts as rewritten, because its records may be at other places.
 */
function writeBack(spool: Spool, row: FileRow, restored: readonly RestoredTranscript[]): RecoveredFile {
  const transcript = restored.find(({ path }) => path === row.path);
  if (transcript === undefined || transcript.lines.length === 0) return report(row.path, 'absent', transcript);
  const setCursor = (to: FileRow['cursor']) => spool.transact(() => spool.files.advance(row, to));
  const { pass, lastTime } = row.cursor;
  let state: Unwritten | undefined;
  let isDone = false;
  try {
    state = writeNew(row.root, row.path, transcript.lines, (fd, size) =>
      setCursor({ ...cursorAt(bytesOfFile(fd), size), pass: pass + 1, lastTime }),
    );
    isDone = state === undefined;
  } finally {
    if (!isDone) setCursor(row.cursor);
  }
  return report(row.path, state ?? 'written', transcript);
}

function writeCopy({ context, agent, to = '' }: Recovery, transcript: RestoredTranscript): RecoveredFile {
  const path = `${agent.id}/${transcript.path.replaceAll('#', '/')}`;
  const name = path.endsWith('.jsonl') ? path : `${path}.jsonl`;
  const state = isPlainPath(name) ? writeNew(resolve(context.folder, to), name, transcript.lines) : 'unsafe';
  return report(name, state ?? 'written', transcript);
}

const report = (path: string, state: RecoveredFile['state'], transcript: RestoredTranscript | undefined) => ({
  path,
  state,
  records: transcript?.lines.length ?? 0,
  inexact: transcript?.inexact ?? 0,
  incomplete: transcript?.incomplete ?? 0,
});
