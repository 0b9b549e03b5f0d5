import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findSpool, recallAccount } from '../account.ts';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { ancestors } from '../privacy/patterns.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';

type Where = Pick<Context, 'variables' | 'home'>;

/** The path of the spool of whoever is signed in, without asking the service; undefined where there is none yet. */
export function locateSpool(context: Where): string | undefined {
  const folder = stateFolder(context);
  const settings = readSettings(context);
  const { url, secret } = settings;
  const path = findSpool(folder, settings, url && secret ? recallAccount(url, secret, folder) : undefined);
  return path !== undefined && existsSync(path) ? path : undefined;
}

/** Opens it; a `Failure` where nothing was captured yet. */
export function requireSpool(context: Where): Spool {
  const path = locateSpool(context);
  if (path !== undefined) return openSpool(path);
  throw new Failure(EXIT.usage, 'Nothing was captured yet.', 'See `capture import --dry-run`.');
}

/** Uses it, and closes it. */
export async function withSpool<Result>(
  context: Where,
  use: (spool: Spool) => Result | Promise<Result>,
): Promise<Result> {
  const spool = requireSpool(context);
  try {
    return await use(spool);
  } finally {
    spool.close();
  }
}

/** The one session that is meant; where none is named, the one that was active last in this folder or one above it. */
export function chooseSession(context: Context, spool: Spool, session: string | undefined): SessionRow {
  if (session === undefined) {
    const latest = latestIn(spool, context.folder);
    if (latest !== undefined) return latest;
    const hint = 'Say which one: `capture sessions` lists them.';
    throw new Failure(EXIT.usage, 'No session of this folder was captured.', hint);
  }
  const [only, ...others] = chooseSessions(context, spool, { sessions: [session] });
  if (only !== undefined && others.length === 0) return only;
  throw new Failure(
    EXIT.usage,
    `${others.length + 1} sessions are meant by ${session}.`,
    "Give the agent's id of one.",
  );
}

function latestIn(spool: Spool, folder: string): SessionRow | undefined {
  const around = new Set(ancestors(folder));
  const here = spool.sessions
    .list()
    .filter(({ agent, agentSession }) =>
      spool.files.ofSession(agent, agentSession).some(({ origin }) => origin.cwd && around.has(origin.cwd)),
    );
  return here.sort((one, other) => (one.lastAt ?? 0) - (other.lastAt ?? 0)).at(-1);
}

export interface Choice {
  /** Agent session ids or the beginning of one, the service's ids, or paths of transcripts; all where there are none. */
  sessions: readonly string[];
  agent?: string;
  /** Milliseconds since 1970. */
  since?: number;
}

/** The captured sessions that are meant. */
export function chooseSessions(context: Context, spool: Spool, { sessions, agent, since = 0 }: Choice): SessionRow[] {
  if (agent !== undefined && !context.agents.some(({ id }) => id === agent)) {
    const known = context.agents.map(({ id }) => id).join(', ');
    throw new Failure(EXIT.usage, `No agent is called ${agent}.`, `Known agents: ${known}.`);
  }
  const all = spool.sessions
    .list()
    .filter((session) => (agent === undefined || session.agent === agent) && (session.lastAt ?? since) >= since);
  if (sessions.length === 0) return all;
  return [...new Set(sessions.flatMap((text) => findSessions(context, spool, all, text)))];
}

function findSessions({ folder }: Context, spool: Spool, all: SessionRow[], text: string): SessionRow[] {
  const exact = spool.sessions.findByServiceId(text);
  const same = all.filter(({ id, agentSession }) => id === exact || agentSession === text);
  if (same.length > 0) return same;
  const path = resolve(folder, text);
  const ofFile = all.filter(({ agent, agentSession }) =>
    spool.files.ofSession(agent, agentSession).some((row) => isFile(join(row.root, row.path), path)),
  );
  if (ofFile.length > 0) return ofFile;
  const [only, ...others] = text === '' ? [] : all.filter(({ agentSession }) => agentSession.startsWith(text));
  if (others.length > 0) {
    throw new Failure(EXIT.usage, `${others.length + 1} sessions begin with ${text}.`, 'Give more of its id.');
  }
  if (only !== undefined) return [only];
  throw new Failure(
    EXIT.usage,
    existsSync(path) ? `Nothing was captured of ${path}.` : `No captured session is called ${text}.`,
    "Give the agent's id of a session, the id it has in the dashboard (ses_…), or a transcript.",
  );
}

/** A session in a file of many has its name behind a `#`, which need not be given. */
const isFile = (path: string, asked: string) => path === asked || path.startsWith(`${asked}#`);

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `7d`, `12h`, or a date. */
export function readSince(text: string, now: number): number {
  const [, number, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const time = number === undefined ? Date.parse(text) : now - Number(number) * (UNITS[unit] ?? 0);
  if (!Number.isNaN(time)) return time;
  throw new Failure(
    EXIT.usage,
    `--since does not take ${text}.`,
    'It takes a date like 2026-11-01, or an age like 7d.',
  );
}
