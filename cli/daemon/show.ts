import type { Context } from '../context.ts';
import { formatCount, type Output } from '../output.ts';
import type { Spool } from '../spool/open.ts';

/** A session is told of again after this long at the earliest, however much comes of it. */
const AGAIN_MS = 60_000;
/** What is captured is sent within moments, unless the service is away. */
const SENT_MS = 10_000;
/** At once, to a person: a catch-up may be thousands. */
const MOST_LINES = 10;
const TITLE_LENGTH = 60;

/** What was told of a session: no events yet while it is new. */
interface Told {
  events: number;
  waiting: number;
  /** When that was, or when it was met; in milliseconds since 1970. */
  at: number;
}

/**
 * Tells of each session that is captured from now on: people a line in their terminal, programs an object a line where
 * they ask for JSON. Returns what to call now and then.
 */
export function createSessionLines(
  { stdout, now }: Pick<Context, 'stdout' | 'now'>,
  output: Output,
  spool: Spool,
): () => void {
  const isWanted = output.json || (stdout.isTTY === true && !output.quiet);
  if (!isWanted) return () => {};
  const told = new Map<number, Told>();
  for (const { id, events, waiting } of list(spool)) told.set(id, { events, waiting, at: 0 });
  let seen = '';

  return () => {
    const { eventsSpooled, eventsSent } = spool.counters();
    const isOpen = [...told.values()].some(({ at }) => at > now() - 2 * AGAIN_MS);
    if (seen === `${eventsSpooled} ${eventsSent}` && !isOpen) return;
    seen = `${eventsSpooled} ${eventsSent}`;
    const news = list(spool).filter(({ id, events, waiting }) => {
      const before = told.get(id) ?? { events: 0, waiting: 0, at: now() };
      told.set(id, before);
      if (before.events === 0 && waiting === 0) return true;
      const isSame = before.events === events && before.waiting === waiting;
      return !isSame && now() - before.at >= (before.events === 0 ? SENT_MS : AGAIN_MS);
    });
    for (const { id, events, waiting } of news) told.set(id, { events, waiting, at: now() });
    const shown = output.json ? news : news.slice(0, MOST_LINES);
    for (const session of shown) {
      const { agent, agentSession, title, events, waiting } = session;
      const state = waiting === 0 ? 'sent' : 'waiting';
      const time = new Date(now());
      if (output.json) {
        stdout.write(`${JSON.stringify({ time, agent, session: agentSession, title, events, waiting, state })}\n`);
      } else {
        const words = [time.toTimeString().slice(0, 8), agent.padEnd(12), title, formatCount(events, 'event'), state];
        output.answer({}, [words.filter((word) => word !== undefined).join('  ')]);
      }
    }
    if (shown.length < news.length) {
      output.answer({}, [`… and of ${formatCount(news.length - shown.length, 'session')} more`]);
    }
  };
}

function list(spool: Spool) {
  const waiting = new Map(spool.batches.perSession().map(({ session, events }) => [session, events]));
  return spool.sessions.list().flatMap(({ id, agent, agentSession, title, prompt, sent }) => {
    const left = waiting.get(id) ?? 0;
    const name = (title ?? prompt)?.replace(/\s+/g, ' ').slice(0, TITLE_LENGTH);
    return left + sent === 0 ? [] : [{ id, agent, agentSession, title: name, events: sent + left, waiting: left }];
  });
}
