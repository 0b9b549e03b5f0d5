import { join } from 'node:path';
import { VISIBILITIES, type Visibility } from '../../contract/session.ts';
import type { Context } from '../context.ts';
import { sessionPage } from '../dashboard.ts';
import { formatAge, formatBytes } from '../output.ts';
import { tilde } from '../paths.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';

/** The meaning of each `state`. */
const STATES = {
  waiting: 'some events wait to be sent',
  skipped: 'skipped with `capture skip`, or forked from a session that is kept back',
  excluded: 'excluded; nothing more of it is captured',
  sent: 'all captured events are sent',
  deleted: 'deleted at the service; nothing more of it is captured',
  closed: 'closed at the service; later events open another session there',
};

/** The meaning of each visibility, for people. */
export const VISIBILITY_WORDS: Record<Visibility, string> = {
  team: 'every member of the organization sees all of it',
  facts: 'others see that it exists, files and figures, but no content',
  private: "only you see anything, and the organization's sums include the figures",
};

/** A captured session in the form of `capture sessions --json`. */
export interface SessionReport {
  agent: string;
  /** The agent's own id. */
  session: string;
  title: string | undefined;
  folder: string | undefined;
  branch: string | undefined;
  lastActiveAt: string | undefined;
  state: keyof typeof STATES;
  eventsSent: number;
  eventsWaiting: number;
  eventsRefused: number;
  /** The service's last answer. Undefined before anything was sent. */
  visibility: Visibility | undefined;
  /** The service's ids, in the order in which its events were sent there. */
  serviceIds: string[];
}

/** Reports on sessions in their present state. */
export function createReports(spool: Spool): (row: SessionRow) => SessionReport {
  const waiting = new Map(spool.batches.perSession().map(({ session, events }) => [session, events]));
  const refused = spool.refused.perSession();
  return ({ id, agent, agentSession, title, prompt, cwd, branch, lastAt, sent, state, verdict }) => {
    const files = spool.files.ofSession(agent, agentSession);
    const eventsWaiting = waiting.get(id) ?? 0;
    const ended = state === 'closed' ? state : 'sent';
    return {
      agent,
      session: agentSession,
      title: title ?? prompt,
      folder: cwd ?? files.find(({ origin }) => origin.cwd)?.origin.cwd,
      branch,
      lastActiveAt: lastAt === undefined ? undefined : new Date(lastAt).toISOString(),
      state: verdict !== 'wanted' ? verdict : eventsWaiting > 0 ? 'waiting' : ended,
      eventsSent: sent,
      eventsWaiting,
      eventsRefused: refused.get(id) ?? 0,
      visibility: visibilityOf(spool, id),
      serviceIds: spool.sessions.serviceIds(id),
    };
  };
}

/** Who sees a session, according to the service's last answer. If its parts differ, the widest visibility counts. */
export function visibilityOf(spool: Spool, id: number): Visibility | undefined {
  const parts = spool.sessions.openedAs(id).map(({ visibility }) => visibility);
  return VISIBILITIES.find((one) => parts.includes(one));
}

/** `16 sent, 2 waiting, 1 refused`. All events of a session may have been left out so far. */
export function describeCounts({ eventsSent, eventsWaiting, eventsRefused }: SessionReport): string {
  if (eventsSent + eventsWaiting + eventsRefused === 0) return 'nothing captured';
  const number = (count: number, what: string) => (count > 0 ? `, ${count.toLocaleString('en-US')} ${what}` : '');
  return `${eventsSent.toLocaleString('en-US')} sent${number(eventsWaiting, 'waiting')}${number(eventsRefused, 'refused')}`;
}

/** Everything about one session, for programs and for people. */
export function describeSession(
  spool: Spool,
  report: SessionReport,
  dashboard: string | undefined,
  { now, home }: Pick<Context, 'now' | 'home'>,
): { value: object; lines: string[] } {
  const { agent, session, title, folder, branch, lastActiveAt, state, visibility, serviceIds } = report;
  const files = spool.files.ofSession(agent, session).map(({ root, path, cursor, origin }) => ({
    ...{ root, path, isSubagent: origin.subagent !== undefined },
    readBytes: cursor.kind === 'file' ? cursor.position : undefined,
  }));
  const pages = dashboard === undefined ? [] : serviceIds.map((id) => sessionPage(dashboard, id));
  const lines: [string, string | undefined][] = [
    ['Session', `${agent} ${session}`],
    ['Title', title ?? 'untitled'],
    ['Folder', folder && `${tilde(folder, home)}${branch ? `, branch ${branch}` : ''}`],
    ['Active', lastActiveAt && `${formatAge(now() - Date.parse(lastActiveAt))} ago`],
    ['State', STATES[state]],
    ['Events', describeCounts(report)],
    ['Visible', visibility && `${visibility}: ${VISIBILITY_WORDS[visibility]}`],
    ...serviceIds.map((id, index): [string, string] => ['Service', [id, ...pages.slice(index, index + 1)].join('  ')]),
    ...files.map(({ root, path, isSubagent, readBytes }): [string, string] => {
      const read = readBytes === undefined ? '' : `, read to ${formatBytes(readBytes)}`;
      return ['File', `${tilde(join(root, path), home)}${read}${isSubagent ? ' (a sub-agent)' : ''}`];
    }),
  ];
  return {
    value: { ...report, dashboard: pages, files },
    lines: lines.flatMap(([name, text]) => (text ? [`${name.padEnd(9)} ${text}`] : [])),
  };
}
