import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { locateSpool } from '../account.ts';
import type { Agent } from '../agents/agent.ts';
import { text } from '../command.ts';
import { requireSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { ancestors } from '../paths.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';

type Where = Pick<Context, 'variables' | 'home'>;

/** The signed-in account's spool. Throws a `Failure` if nobody is signed in although something was captured. */
export function spoolOfUser(context: Where): string | undefined {
  const path = locateSpool(context);
  if (path === undefined && existsSync(join(stateFolder(context), 'spool.db'))) requireSettings(context);
  return path;
}

/** Opens the spool, uses it and closes it. Throws a `Failure` if nothing was captured yet. */
export async function withSpool<Result>(
  context: Where,
  use: (spool: Spool) => Result | Promise<Result>,
): Promise<Result> {
  const path = spoolOfUser(context);
  if (path === undefined) throw new Failure(EXIT.usage, 'Nothing was captured yet.', 'See `capture import --dry-run`.');
  const spool = openSpool(path);
  try {
    return await use(spool);
  } finally {
    spool.close();
  }
}

export const SESSION_NAMES = "the agent's session id or its beginning, or the service's id, ses_…";

/** The options of commands for many sessions. */
export const CHOICE_OPTIONS = {
  agent: text('--agent <id>', 'only sessions of this agent, e.g. claude-code'),
  since: text('--since <when>', 'only sessions active since then: a date, or an age like 7d'),
};

export interface SessionFilter {
  /** Ids as in `SESSION_NAMES`. Empty means all sessions. */
  sessions: readonly string[];
  agent?: string | undefined;
  since?: string | undefined;
}

/** The chosen sessions. Throws a `Failure` if a named session was not captured. */
export function chooseSessions(
  context: Context,
  spool: Spool,
  { sessions, agent, since }: SessionFilter,
): SessionRow[] {
  requireAgents(context, agent);
  const from = since === undefined ? 0 : readSince(since, context.now());
  const all = spool.sessions
    .list()
    .filter((session) => (agent === undefined || session.agent === agent) && (session.lastAt ?? from) >= from);
  return sessions.length === 0 ? all : [...new Set(sessions.map((name) => findSession(spool, all, name)))];
}

/** The chosen session. Without a name, the session that was last active in this folder or one above it. */
export function chooseSession(context: Context, spool: Spool, name: string | undefined): SessionRow {
  const all = spool.sessions.list();
  if (name !== undefined) return findSession(spool, all, name);
  const around = new Set(ancestors(context.folder));
  const isHere = ({ agent, agentSession }: SessionRow) =>
    spool.files.ofSession(agent, agentSession).some(({ origin }) => origin.cwd && around.has(origin.cwd));
  const latest = all.filter(isHere).sort(byTime).at(-1);
  if (latest !== undefined) return latest;
  const hint = 'Name one: `capture sessions` lists them.';
  throw new Failure(EXIT.usage, 'No session of this folder was captured.', hint);
}

/** The agents with an id, or all agents. */
export function requireAgents({ agents }: Pick<Context, 'agents'>, id: string | undefined): readonly Agent[] {
  const meant = agents.filter((agent) => id === undefined || agent.id === id);
  if (meant.length > 0) return meant;
  const known = [...new Set(agents.map((agent) => agent.id))].join(', ');
  throw new Failure(EXIT.usage, `No agent is called ${id}.`, `Known agents: ${known}.`);
}

/** Sorts the most recently active session last. */
export const byTime = (one: SessionRow, other: SessionRow): number => (one.lastAt ?? 0) - (other.lastAt ?? 0);

function findSession(spool: Spool, all: readonly SessionRow[], name: string): SessionRow {
  const known = spool.sessions.findByServiceId(name);
  const same = all.filter(({ id, agentSession }) => id === known || agentSession === name);
  const meant = same.length > 0 || name === '' ? same : all.filter(({ agentSession }) => agentSession.startsWith(name));
  const [only, ...others] = meant;
  if (only === undefined) {
    const hint = `Give ${SESSION_NAMES}. Sessions that are kept back are not captured.`;
    throw new Failure(EXIT.usage, `No captured session is called ${name}.`, hint);
  }
  if (others.length === 0) return only;
  throw new Failure(EXIT.usage, `${meant.length} sessions begin with ${name}.`, 'Give more of its id.');
}

const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `7d`, `12h`, or a date. */
function readSince(given: string, now: number): number {
  const [, number, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(given) ?? [];
  const time = number === undefined ? Date.parse(given) : now - Number(number) * (UNITS[unit] ?? 0);
  if (!Number.isNaN(time)) return time;
  const hint = 'Use a date like 2026-11-01, or an age like 7d.';
  throw new Failure(EXIT.usage, `${given} is not a value for --since.`, hint);
}
