import { join } from 'node:path';
import type { Context } from '../context.ts';
import { sessionPage } from '../inspect/service.ts';
import { formatAge, formatBytes, formatCount } from '../output.ts';
import type { FileRow } from '../spool/files.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';
import type { Column } from './columns.ts';

/** A captured session, as `capture sessions --json` has it. */
export interface SessionReport {
  agent: string;
  /** The agent's own id. */
  session: string;
  title?: string;
  folder?: string;
  branch?: string;
  lastActiveAt?: string;
  /** `waiting`: some of it is not sent; `skipped`: taken out by `capture skip`; `sent`: all of it; `closed`: completed there; `deleted`: by a person. */
  state: 'waiting' | 'skipped' | 'sent' | 'closed' | 'deleted';
  eventsSent: number;
  eventsWaiting: number;
  eventsRefused: number;
  /** The service's ids, in the order in which its events went there. */
  serviceIds: string[];
}

/** Events by session. */
export interface Counts {
  waiting: ReadonlyMap<number, number>;
  refused: ReadonlyMap<number, number>;
}

export function countEvents(spool: Spool): Counts {
  const waiting = new Map(spool.batches.perSession().map(({ session, events }) => [session, events]));
  const refused = new Map<number, number>();
  for (const { session } of spool.refused.list()) refused.set(session, (refused.get(session) ?? 0) + 1);
  return { waiting, refused };
}

export function reportSession(
  spool: Spool,
  row: SessionRow,
  { waiting, refused }: Counts,
  isSkipped: boolean,
): SessionReport {
  const { id, agent, agentSession, title, prompt, cwd, branch, lastAt, sent } = row;
  const eventsWaiting = waiting.get(id) ?? 0;
  const ended = row.state === 'closed' || row.state === 'deleted' ? row.state : 'sent';
  const name = title ?? prompt;
  const folder = cwd ?? filesOf(spool, row).find(({ origin }) => origin.cwd)?.origin.cwd;
  return {
    agent,
    session: agentSession,
    ...(name !== undefined && { title: name }),
    ...(folder !== undefined && { folder }),
    ...(branch !== undefined && { branch }),
    ...(lastAt !== undefined && { lastActiveAt: new Date(lastAt).toISOString() }),
    state: isSkipped ? 'skipped' : eventsWaiting > 0 ? 'waiting' : ended,
    eventsSent: sent,
    eventsWaiting,
    eventsRefused: refused.get(id) ?? 0,
    serviceIds: spool.sessions.serviceIds(id),
  };
}

export const filesOf = (spool: Spool, { agent, agentSession }: SessionRow): FileRow[] =>
  spool.files.ofSession(agent, agentSession);

export const COLUMNS: readonly Column[] = [
  { heading: 'SESSION', least: 8 },
  { heading: 'AGENT', least: 6 },
  { heading: 'ACTIVE' },
  { heading: 'EVENTS' },
  { heading: 'FOLDER', least: 6, cut: 'start' },
  { heading: 'TITLE', least: 16 },
];

const ID_WIDTH = 13;

/** A row a session: an id long enough to ask for it, when, how much, where, what. */
export function describeRow(report: SessionReport, { now, home }: Pick<Context, 'now' | 'home'>): string[] {
  const { agent, session, title, folder, lastActiveAt } = report;
  return [
    session.slice(0, ID_WIDTH),
    agent,
    lastActiveAt === undefined ? '' : shortAge(now() - Date.parse(lastActiveAt)),
    shortCount(report),
    folder === undefined ? '' : shortPath(folder, home),
    title ?? 'untitled',
  ];
}

function shortCount({ state, eventsSent, eventsWaiting, eventsRefused }: SessionReport): string {
  if (state === 'skipped' || state === 'deleted') return state;
  const number = (count: number, what: string) => (count > 0 ? `, ${count.toLocaleString('en-US')} ${what}` : '');
  return `${eventsSent.toLocaleString('en-US')} sent${number(eventsWaiting, 'waiting')}${number(eventsRefused, 'refused')}`;
}

/** All there is to say about one. */
export function describeSession(
  report: SessionReport,
  files: readonly FileRow[],
  { dashboard, context }: { dashboard: string | undefined; context: Pick<Context, 'now' | 'home' | 'agents'> },
): string[] {
  const { agent, session, title, folder, branch, lastActiveAt, state, serviceIds } = report;
  const { now, home } = context;
  const lines: [string, string | undefined][] = [
    ['Session', `${agent} ${session}`],
    ['Title', title ?? 'untitled'],
    ['Folder', folder === undefined ? undefined : `${shortPath(folder, home)}${branch ? `, branch ${branch}` : ''}`],
    ['Active', lastActiveAt === undefined ? undefined : `${formatAge(now() - Date.parse(lastActiveAt))} ago`],
    ['State', STATES[state]],
    ['Events', describeCounts(report)],
    ...serviceIds.map((id): [string, string] => ['Service', dashboard ? `${id}  ${sessionPage(dashboard, id)}` : id]),
    ...files.map((file): [string, string] => ['File', describeFile(file, context)]),
  ];
  return lines.flatMap(([name, text]) => (text === undefined ? [] : [`${name.padEnd(9)} ${text}`]));
}

const STATES: { readonly [state in SessionReport['state']]: string } = {
  waiting: 'some of it waits to be sent',
  skipped: 'taken out with `capture skip`',
  sent: 'all that was captured is sent',
  deleted: 'deleted at the service; nothing more of it is captured',
  closed: 'closed at the service; what comes after opens another one there',
};

function describeCounts({ eventsSent, eventsWaiting, eventsRefused }: SessionReport): string {
  const refused = eventsRefused > 0 ? `, ${eventsRefused.toLocaleString('en-US')} refused` : '';
  return `${formatCount(eventsSent, 'event')} sent, ${eventsWaiting.toLocaleString('en-US')} waiting${refused}`;
}

function describeFile({ root, path, cursor, origin }: FileRow, { home }: Pick<Context, 'home'>): string {
  const read = cursor.kind === 'file' ? `, read to ${formatBytes(cursor.position)}` : '';
  return `${shortPath(join(root, path), home)}${read}${origin.subagent ? ' (a sub-agent)' : ''}`;
}

/** `3 hours ago` is too long for a column. */
const shortAge = (ms: number): string =>
  formatAge(ms)
    .replace('less than a minute', 'now')
    .replace(/ (m)in.*| (h)our.*| (d)ay.*/, '$1$2$3');

const shortPath = (path: string, home: string): string =>
  path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
