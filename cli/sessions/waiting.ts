import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { formatAge, formatBytes, formatCount } from '../output.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';

/** What of a session lies in the spool. */
export interface WaitingReport {
  agent: string;
  session: string;
  title?: string;
  batches: number;
  events: number;
  bytes: number;
  /** When the oldest of it was captured. */
  oldestAt?: string;
  /** Events that the service refused; they are not sent again. */
  refused: number;
}

/** What waits by session, what has waited longest first, and then what was refused alone. */
export function listWaiting(spool: Spool): WaitingReport[] {
  const refused = countRefused(spool);
  const waiting = spool.waiting.perSession();
  const only = [...refused.keys()].filter((id) => !waiting.some(({ session }) => session === id));
  return [
    ...waiting.map(({ session, oldest, ...counts }) => ({
      ...nameOf(spool.sessions.get(session)),
      ...counts,
      oldestAt: new Date(oldest).toISOString(),
      refused: refused.get(session) ?? 0,
    })),
    ...only.map((id) => ({
      ...nameOf(spool.sessions.get(id)),
      ...{ batches: 0, events: 0, bytes: 0, refused: refused.get(id) ?? 0 },
    })),
  ];
}

/** Refused events by session. */
export function countRefused(spool: Spool): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { session } of spool.waiting.refused()) counts.set(session, (counts.get(session) ?? 0) + 1);
  return counts;
}

function nameOf({ agent, agentSession, title, prompt }: SessionRow) {
  const name = title ?? prompt;
  return { agent, session: agentSession, ...(name !== undefined && { title: name }) };
}

/** A row a session: which, how much, for how long, what. */
export function describeWaiting(report: WaitingReport, now: number): string[] {
  const { agent, session, title, batches, events, bytes, oldestAt, refused } = report;
  const waiting = [
    `${formatCount(events, 'event')} in ${formatCount(batches, 'batch', 'batches')} (${formatBytes(bytes)})`,
  ];
  const what = [...(batches > 0 ? waiting : []), ...(refused > 0 ? [`${formatCount(refused, 'event')} refused`] : [])];
  const age = oldestAt === undefined ? '' : `for ${formatAge(now - Date.parse(oldestAt))}`;
  return [session.slice(0, 13), agent, what.join(', '), age, title ?? 'untitled'];
}

/** Whether each transcript file of a session is still where it was read. */
export const hasTranscripts = (spool: Spool, { agent, agentSession }: SessionRow): boolean => {
  const files = spool.files.ofSession(agent, agentSession);
  return files.length > 0 && files.every(({ root, path }) => existsSync(join(root, path.replace(/#.*$/, ''))));
};
