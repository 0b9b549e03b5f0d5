import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { locateSpool } from '../account.ts';
import type { Agent } from '../agents/agent.ts';
import { readLength, text } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { ancestors } from '../paths.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';

type Where = Pick<Context, 'variables' | 'home'>;

/** Opens it, uses it and closes it; a `Failure` where nothing was captured yet. */
export async function withSpool<Result>(
  context: Where,
  use: (spool: Spool) => Result | Promise<Result>,
): Promise<Result> {
  const path = locateSpool(context);
  if (path === undefined) throw new Failure(EXIT.usage, 'Nothing was captured yet.', 'See `capture import --dry-run`.');
  const spool = openSpool(path);
  try {
    return await use(spool);
  } finally {
    spool.close();
  }
}

export const SESSION_NAMES = "the agent's id of a session or its beginning, ses_…, or a transcript";

/** The options of the commands that are about many sessions. */
export const CHOICE_OPTIONS = {
  agent: text('--agent <id>', 'only sessions of this agent, e.g. claude-code'),
  since: text('--since <when>', 'only sessions active since then: a date, or an age like 7d'),
};

export interface Choice {
  /** As in `SESSION_NAMES`; all where there are none. */
  sessions: readonly string[];
  agent?: string | undefined;
  since?: string | undefined;
}

/** The captured sessions that are meant; a `Failure` where one that is named is not among them. */
export function chooseSessions(context: Context, spool: Spool, { sessions, agent, since }: Choice): SessionRow[] {
  requireAgents(context, agent);
  const from = since === undefined ? 0 : readSince(since, context.now());
  const all = spool.sessions
    .list()
    .filter((session) => (agent === undefined || session.agent === agent) && (session.lastAt ?? from) >= from);
  if (sessions.length === 0) return all;
  return [...new Set(sessions.flatMap((name) => findSessions(context, spool, all, name)))];
}

/** The one session that is meant; where none is named, the one that was active last in this folder or one above it. */
export function chooseSession(context: Context, spool: Spool, name: string | undefined): SessionRow {
  if (name === undefined) {
    const around = new Set(ancestors(context.folder));
    const isHere = ({ agent, agentSession }: SessionRow) =>
      spool.files.ofSession(agent, agentSession).some(({ origin }) => origin.cwd && around.has(origin.cwd));
    const latest = spool.sessions.list().filter(isHere).sort(byTime).at(-1);
    if (latest !== undefined) return latest;
    const hint = 'Say which one: `capture sessions` lists them.';
    throw new Failure(EXIT.usage, 'No session of this folder was captured.', hint);
  }
  const [only, ...others] = chooseSessions(context, spool, { sessions: [name] });
  if (only !== undefined && others.length === 0) return only;
  throw new Failure(EXIT.usage, `${others.length + 1} sessions are meant by ${name}.`, "Give the agent's id of one.");
}

/** The agents of an id, or all. */
export function requireAgents({ agents }: Pick<Context, 'agents'>, id: string | undefined): readonly Agent[] {
  const meant = agents.filter((agent) => id === undefined || agent.id === id);
  if (meant.length > 0) return meant;
  const known = [...new Set(agents.map((agent) => agent.id))].join(', ');
  throw new Failure(EXIT.usage, `No agent is called ${id}.`, `Known agents: ${known}.`);
}

/** The one that was active last comes last. */
export const byTime = (one: SessionRow, other: SessionRow): number => (one.lastAt ?? 0) - (other.lastAt ?? 0);

function findSessions({ folder }: Context, spool: Spool, all: SessionRow[], name: string): SessionRow[] {
  const exact = spool.sessions.findByServiceId(name);
  const same = all.filter(({ id, agentSession }) => id === exact || agentSession === name);
  if (same.length > 0) return same;
  const path = resolve(folder, name);
  const ofFile = all.filter(({ agent, agentSession }) =>
    spool.files.ofSession(agent, agentSession).some((row) => isFile(join(row.root, row.path), path)),
  );
  if (ofFile.length > 0) return ofFile;
  const [only, ...others] = name === '' ? [] : all.filter(({ agentSession }) => agentSession.startsWith(name));
  if (others.length > 0) {
    throw new Failure(EXIT.usage, `${others.length + 1} sessions begin with ${name}.`, 'Give more of its id.');
  }
  if (only !== undefined) return [only];
  const sentence = existsSync(path) ? `Nothing was captured of ${path}.` : `No captured session is called ${name}.`;
  throw new Failure(EXIT.usage, sentence, `Give ${SESSION_NAMES}.`);
}

/** A session in a file of many has its name behind a `#`, which need not be given. */
const isFile = (path: string, asked: string) => path === asked || path.startsWith(`${asked}#`);

/** `7d`, `12h`, or a date. */
function readSince(given: string, now: number): number {
  const length = readLength(given);
  const time = length === undefined ? Date.parse(given) : now - length;
  if (!Number.isNaN(time)) return time;
  const hint = 'It takes a date like 2026-11-01, or an age like 7d.';
  throw new Failure(EXIT.usage, `--since does not take ${given}.`, hint);
}
