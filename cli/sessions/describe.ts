import { join } from 'node:path';
import type { Context } from '../context.ts';
import { sessionPage } from '../dashboard.ts';
import { formatAge, formatBytes } from '../output.ts';
import { tilde } from '../paths.ts';
import { nameSession, readSkipped } from '../privacy/policy.ts';
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

/** Reports on sessions as they are now. */
export function createReports(context: Context, spool: Spool): (row: SessionRow) => SessionReport {
  const waiting = new Map(spool.batches.perSession().map(({ session, events }) => [session, events]));
  const refused = Map.groupBy(spool.refused.list(), ({ session }) => session);
  const skipped = readSkipped(context);
  return (row) => {
    const { id, agent, agentSession, title, prompt, cwd, branch, lastAt, sent } = row;
    const eventsWaiting = waiting.get(id) ?? 0;
    const ended = row.state === 'closed' || row.state === 'deleted' ? row.state : 'sent';
    const isSkipped = skipped.has(nameSession(agent, agentSession));
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
      eventsRefused: refused.get(id)?.length ?? 0,
      serviceIds: spool.sessions.serviceIds(id),
    };
  };
}

const filesOf = (spool: Spool, { agent, agentSession }: SessionRow): FileRow[] =>
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
  const { agent, session, title, folder, lastActiveAt, state } = report;
  return [
    session.slice(0, ID_WIDTH),
    agent,
    lastActiveAt === undefined ? '' : shortAge(now() - Date.parse(lastActiveAt)),
    state === 'skipped' || state === 'deleted' ? state : describeCounts(report),
    folder === undefined ? '' : tilde(folder, home),
    title ?? 'untitled',
  ];
}

function describeCounts({ eventsSent, eventsWaiting, eventsRefused }: SessionReport): string {
  const number = (count: number, what: string) => (count > 0 ? `, ${count.toLocaleString('en-US')} ${what}` : '');
  return `${eventsSent.toLocaleString('en-US')} sent${number(eventsWaiting, 'waiting')}${number(eventsRefused, 'refused')}`;
}

const STATES: { readonly [state in SessionReport['state']]: string } = {
  waiting: 'some of it waits to be sent',
  skipped: 'taken out with `capture skip`',
  sent: 'all that was captured is sent',
  deleted: 'deleted at the service; nothing more of it is captured',
  closed: 'closed at the service; what comes after opens another one there',
};

/** All there is to say about one, for programs and for people. */
export function describeSession(
  spool: Spool,
  row: SessionRow,
  report: SessionReport,
  { dashboard, context }: { dashboard: string | undefined; context: Pick<Context, 'now' | 'home'> },
): { value: object; lines: string[] } {
  const { agent, session, title, folder, branch, lastActiveAt, state, serviceIds } = report;
  const { now, home } = context;
  const files = filesOf(spool, row).map(({ root, path, cursor, origin }) => {
    const read = cursor.kind === 'file' ? `, read to ${formatBytes(cursor.position)}` : '';
    return {
      value: { root, path, ...(cursor.kind === 'file' && { readBytes: cursor.position }) },
      text: `${tilde(join(root, path), home)}${read}${origin.subagent ? ' (a sub-agent)' : ''}`,
    };
  });
  const pages = dashboard === undefined ? [] : serviceIds.map((id) => sessionPage(dashboard, id));
  const lines: [string, string | undefined][] = [
    ['Session', `${agent} ${session}`],
    ['Title', title ?? 'untitled'],
    ['Folder', folder && `${tilde(folder, home)}${branch ? `, branch ${branch}` : ''}`],
    ['Active', lastActiveAt && `${formatAge(now() - Date.parse(lastActiveAt))} ago`],
    ['State', STATES[state]],
    ['Events', describeCounts(report)],
    ...serviceIds.map((id, index): [string, string] => ['Service', [id, ...pages.slice(index, index + 1)].join('  ')]),
    ...files.map((file): [string, string] => ['File', file.text]),
  ];
  return {
    value: { ...report, dashboard: pages, files: files.map(({ value }) => value) },
    lines: lines.flatMap(([name, text]) => (text ? [`${name.padEnd(9)} ${text}`] : [])),
  };
}

/** `3 hours ago` is too long for a column. */
const shortAge = (ms: number): string =>
  formatAge(ms)
    .replace('less than a minute', 'now')
    .replace(/ (m)in.*| (h)our.*| (d)ay.*/, '$1$2$3');
