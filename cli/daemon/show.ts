import { formatCount } from '../../contract/count.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';

/** However much a session grows, it is announced again after this long at the earliest. */
const AGAIN_MS = 60_000;
/** The most lines shown to a person at once. A catch-up may be thousands of sessions. */
const MAX_LINES = 10;
const TITLE_LENGTH = 60;

/**
 * Announces each session that is sent from now on. People get a line in their terminal; with JSON, programs get an object per
 * line. Returns a function to call now and then.
 */
export function createSessionLines(
  { stdout, now }: Pick<Context, 'stdout' | 'now'>,
  output: Output,
  spool: Spool,
): () => void {
  if (!output.json && (stdout.isTTY !== true || output.quiet)) return () => {};
  /** For each session, how many of its events were announced, and when. */
  const announced = new Map(spool.sessions.list().map(({ id, sent }) => [id, { sent, at: 0 }]));
  let sentBefore = spool.counters().eventsSent;
  let nextAt = 0;

  return () => {
    const { eventsSent } = spool.counters();
    const at = now();
    if (eventsSent === sentBefore && at < nextAt) return;
    sentBefore = eventsSent;
    nextAt = at + AGAIN_MS;
    const waiting = new Set(spool.batches.perSession().map(({ session }) => session));
    const news = spool.sessions.list().filter(({ id, sent }) => {
      const before = announced.get(id) ?? { sent: 0, at: 0 };
      return sent > before.sent && !waiting.has(id) && at - before.at >= AGAIN_MS;
    });
    for (const { id, sent } of news) announced.set(id, { sent, at });
    if (output.json) for (const session of news) stdout.write(`${toJson(session, at)}\n`);
    else output.answer({}, toLines(news, at));
  };
}

const titleOf = ({ title, prompt }: SessionRow) => (title ?? prompt)?.replace(/\s+/g, ' ').slice(0, TITLE_LENGTH);

function toJson(row: SessionRow, now: number): string {
  const { agent, agentSession: session, sent: events, state } = row;
  return JSON.stringify({ time: new Date(now).toISOString(), agent, session, title: titleOf(row), events, state });
}

function toLines(sessions: readonly SessionRow[], now: number): string[] {
  const time = new Date(now).toTimeString().slice(0, 8);
  const lines = sessions.slice(0, MAX_LINES).map((session) => {
    const state = session.state === 'closed' ? 'sent, complete' : 'sent';
    const words = [time, session.agent.padEnd(12), titleOf(session), formatCount(session.sent, 'event'), state];
    return words.filter((word) => word !== undefined).join('  ');
  });
  const left = sessions.length - lines.length;
  return left > 0 ? [...lines, `… and ${formatCount(left, 'session')} more`] : lines;
}
