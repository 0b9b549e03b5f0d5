import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { SessionEvent } from '../../contract/event.ts';
import type { Agent, JsonObject, Origin } from '../agents/agent.ts';
import { isObject } from '../agents/shared/part.ts';
import type { Context } from '../context.ts';
import { parseExact } from '../exact.ts';
import { EXIT, Failure } from '../failure.ts';
import { bytesOfFile } from '../read/bytes.ts';
import { cursorAt } from '../read/cursor.ts';
import type { RecordHash } from '../read/identity.ts';
import type { Spool } from '../spool/open.ts';
import { restoreTranscripts } from './transcripts.ts';
import { writeNew } from './write.ts';

export interface Continuation {
  agent: string;
  /** The new session's id, as the agent has it. */
  session: string;
  continues: string;
  file: string;
  records: number;
  command: readonly string[];
}

interface Wish {
  context: Context;
  spool: Spool;
  hashRecord: RecordHash;
  /** All events of the session to continue. */
  events: readonly SessionEvent[];
  /** The folder in which the agent continues: an absolute path. */
  folder: string;
}

/**
 * Writes a copy of a session as a new session of this machine, with its paths in another folder. Capture knows the copy as a
 * fork that was read to its end, so it captures only what is added, and the service relates it to the original.
 */
export function continueSession({ context, spool, hashRecord, events, folder }: Wish): Continuation {
  const { agent, original } = originalOf(context, events);
  const { continuation } = agent;
  const [root] = agent.roots(context.variables, context.home);
  if (continuation === undefined || root === undefined) throw cannotContinue(agent);
  const transcripts = restoreTranscripts(agent, events).filter(({ subagent }) => subagent === undefined);
  const session = randomUUID();
  const from = folderIn(events);
  const records = transcripts
    .flatMap(({ lines }) => lines)
    .map(toRecord)
    .filter((record) => record !== undefined)
    .map((record) => continuation.mark(moved(record, { original, session, from, folder }), original));
  if (records.length === 0) throw nothingToContinue(original);
  const now = new Date(context.now());
  const path = continuation.path(session, folder, now);
  const lines = records.map((record) => Buffer.from(JSON.stringify(record)));
  const origin: Origin = { session, cwd: folder, forkedFrom: original };
  const state = writeNew(root, path, lines, (fd, size) =>
    spool.transact(() => {
      const id = spool.sessions.ensure(agent.id, session);
      const cursor = { ...cursorAt(bytesOfFile(fd), size), lastTime: now.getTime() };
      const file = {
        agent: agent.id,
        root,
        path,
        session: id,
        origin,
        startedAt: now.getTime(),
        leftBefore: undefined,
        isCaptured: true,
      };
      spool.files.insert({ ...file, cursor });
      spool.sessions.learn(id, { cwd: folder, forkedFrom: original });
      for (const record of records) {
        const key = agent.recordKey(record, { origin, file: path, position: 0 });
        if (key !== undefined) spool.seen.meetRecord(hashRecord(`${agent.id} ${key}`), id);
      }
    }),
  );
  if (state !== undefined)
    throw new Failure(EXIT.failure, `${join(root, path)} cannot be written: a link is in the way.`);
  const command = continuation.command(session);
  return { agent: agent.id, session, continues: original, file: join(root, path), records: records.length, command };
}

/** The agent and its id of the session, from the first event that says so. */
function originalOf({ agents }: Context, events: readonly SessionEvent[]): { agent: Agent; original: string } {
  for (const { payload } of events) {
    const { agent: id, session } = isObject(payload.source) ? payload.source : {};
    const agent = agents.find((one) => one.id === id);
    if (agent !== undefined && typeof session === 'string') return { agent, original: session };
  }
  const hint = 'Only sessions that the command line captured can be continued.';
  throw new Failure(EXIT.failure, 'No event of this session says which agent wrote it.', hint);
}

const cannotContinue = ({ displayName }: Agent) =>
  new Failure(
    EXIT.failure,
    `Sessions of ${displayName} cannot be continued from a copy.`,
    '`capture recover SESSION --to FOLDER` writes their records.',
  );

const nothingToContinue = (session: string) =>
  new Failure(EXIT.failure, `${session} has no record of its own.`, 'Name the session that it was forked from.');

/** The folder that the session worked in on its machine. */
function folderIn(events: readonly SessionEvent[]): string | undefined {
  for (const { eventType, payload } of events) {
    if (eventType === 'session.meta' && typeof payload.cwd === 'string') return payload.cwd;
  }
  return undefined;
}

function toRecord(line: Buffer): JsonObject | undefined {
  try {
    const value = parseExact(line.toString());
    return isObject(value) ? value : undefined;
  } catch {
    // Bytes that are not a record. The agent would not read them either.
    return undefined;
  }
}

interface Move {
  original: string;
  session: string;
  from: string | undefined;
  folder: string;
}

/** The record with the new session's id, and with paths below the other machine's folder in the new one. Texts stay. */
function moved(record: JsonObject, move: Move): JsonObject {
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return movedText(value, move);
    if (Array.isArray(value)) return value.map(visit);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)]));
  };
  return visit(record) as JsonObject;
}

function movedText(text: string, { original, session, from, folder }: Move): string {
  if (text === original) return session;
  if (from === undefined || !text.startsWith(from)) return text;
  const rest = text.slice(from.length);
  // A longer text that begins with the path is not a path.
  return rest === '' || (/^[/\\]/.test(rest) && !/[\n\r]/.test(rest)) ? folder + rest : text;
}
