import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { takeLock } from '../lock.ts';
import { formatCount } from '../output.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';
import { chooseSessions } from '../verify/choose.ts';
import { hasTranscripts } from './waiting.ts';

export interface DropChoice {
  sessions: readonly string[];
  refused?: boolean;
  all?: boolean;
}

/** What would be thrown away. */
export interface Doomed {
  sessions: SessionRow[];
  events: number;
  refused: number;
  /** Of the sessions, how many still have their transcripts. */
  withTranscripts: number;
}

export function findDoomed(context: Context, spool: Spool, { sessions, refused, all }: DropChoice): Doomed {
  if ([sessions.length > 0, refused === true, all === true].filter(Boolean).length !== 1) {
    throw new Failure(EXIT.usage, 'Say what to drop: a SESSION, --refused or --all.', 'See `capture spool list`.');
  }
  const waiting = new Map(spool.waiting.perSession().map(({ session, events }) => [session, events]));
  const chosen = sessions.length > 0 ? chooseSessions(context, spool, { sessions }) : spool.sessions.list();
  const meant = refused ? [] : chosen.filter(({ id }) => waiting.has(id));
  return {
    sessions: meant,
    events: meant.reduce((sum, { id }) => sum + (waiting.get(id) ?? 0), 0),
    refused: refused || all ? [...spool.waiting.refused()].length : 0,
    withTranscripts: meant.filter((row) => hasTranscripts(spool, row)).length,
  };
}

/** What is lost, for a person who is about to decide. */
export function describeDoomed({ sessions, events, refused, withTranscripts }: Doomed): string[] {
  const whose =
    sessions.length === 1
      ? `${sessions[0]?.agent} ${sessions[0]?.agentSession}`
      : formatCount(sessions.length, 'session');
  return [
    ...(events > 0
      ? [`${formatCount(events, 'event')} of ${whose} that the service does not have. They are not captured again.`]
      : []),
    ...(events > 0 ? [describeTranscripts(sessions.length, withTranscripts)] : []),
    ...(refused > 0 ? [`${formatCount(refused, 'event')} that the service refused.`] : []),
  ];
}

function describeTranscripts(sessions: number, present: number): string {
  if (present === 0) return 'The transcripts are gone: what is dropped is nowhere else.';
  if (present === sessions) return 'The transcripts still have it, for as long as the agents keep them.';
  return `The transcripts of ${present} of the ${sessions} sessions still have it; of the others it is nowhere else.`;
}

/** Throws it away in one commit; returns what that was, and whether another process is sending meanwhile. */
export function drop(folder: string, spool: Spool, { sessions, refused }: Doomed) {
  // Held, nobody sends meanwhile. A daemon that does will find its batch gone once it is acknowledged, which it bears.
  const lock = takeLock(folder, 'upload');
  try {
    const dropped = spool.transact(() => ({
      events: sessions.reduce((sum, { id }) => sum + spool.batches.removeSession(id), 0),
      refused: refused > 0 ? spool.waiting.removeRefused() : 0,
    }));
    return { ...dropped, isSending: lock === undefined };
  } finally {
    lock?.release();
  }
}
