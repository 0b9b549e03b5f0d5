import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { writeSequence } from '../server/cursor.ts';
import { type ClientOptions, createClient, PAUSE_MS, RECOVERED_WITHIN_MS } from './client.ts';
import { type History, textOf } from './history.ts';

/** One append, which is sent until somebody has said what became of it. */
interface Append {
  name: string;
  session: string;
  count: number;
  /** In each of its events. */
  padding: string;
  isSettled?: boolean;
}

export interface LoadOptions extends ClientOptions {
  secret: string;
  /** How a session is opened. */
  machine: { environmentId: string; agentInstallationId: string };
  writers: number;
  sessions: number;
}

const MOST_EVENTS = 50;

export type Load = ReturnType<typeof createLoad>;

/** Writers that append to sessions, repeat what was not answered, and now and then what was; and a reader. */
export function createLoad(options: LoadOptions) {
  const { secret, machine, token, random, writers } = options;
  const { call, insist, urlOf, readSession } = createClient(options);
  const counts = { requests: 0, acknowledged: 0, unavailable: 0 };
  /** The last number that was acknowledged in each session. */
  const highest = new Map<string, number>();
  let sessions: string[] = [];
  let appends: Append[] = [];
  let made = 0;
  let history: History;
  let running: Promise<unknown> | undefined;
  let stopped = false;
  let isHeavy = false;

  const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const open = async (): Promise<string> =>
    (await insist([201], 'POST', '/v1/sessions', secret, machine)).body.sessionId;

  /** @returns whether somebody said what became of it */
  async function send(append: Append): Promise<boolean> {
    const { name, session, count, padding } = append;
    const events = Array.from({ length: count }, (_, index) => ({
      eventType: 'notice',
      payload: { text: textOf(name, index), padding },
    }));
    history.write({ send: name, session, count });
    counts.requests++;
    try {
      const { status, body } = await call('POST', `/v1/sessions/${session}/events`, secret, { events }, name);
      const { firstSequence: first, lastSequence: last, code } = body;
      history.write({ answer: name, status, ...(code !== undefined ? { code } : { first, last }) });
      if (status === 503) counts.unavailable++;
      if (status < 300) {
        counts.acknowledged++;
        highest.set(session, Math.max(last, highest.get(session) ?? 0));
      }
      const isSettled = status < 300 || code === 'session_closed';
      append.isSettled ||= isSettled;
      return isSettled;
    } catch {
      history.write({ unanswered: name });
      return false;
    }
  }

  async function untilAnswered(append: Append): Promise<void> {
    for (const end = performance.now() + 2 * RECOVERED_WITHIN_MS; !(await send(append)) && !stopped; ) {
      if (performance.now() > end) throw new Error(`${append.name} is not answered any more`);
      await pause(PAUSE_MS);
    }
  }

  function make(session: string): Append {
    const count = made % 9 === 0 ? 1 + (made % MOST_EVENTS) : MOST_EVENTS;
    // What is random stays as long as it is, however it is packed. 50 × 40 kB are more than a message of a bus takes.
    const bytes = isHeavy ? 1_500 : made % 100 === 99 ? 30_000 : 0;
    const append = { name: `append-${made++}`, session, count, padding: randomBytes(bytes).toString('base64') };
    appends.push(append);
    return append;
  }

  async function write(): Promise<void> {
    for (let turn = 1; !stopped; turn++) {
      await untilAnswered(make(anyOf(sessions)));
      const earlier = anyOf(appends);
      if (turn % 10 === 0 && earlier.isSettled) await untilAnswered(earlier);
    }
  }

  async function close(session: string): Promise<void> {
    // 409: an earlier try was taken, and its answer lost.
    await insist([200, 409], 'POST', `/v1/sessions/${session}/complete`, secret, {});
    history.write({ closed: session });
  }

  return {
    counts,
    /** New sessions, and writers on them, who tell the history. */
    async start(given: History): Promise<void> {
      history = given;
      sessions = await Promise.all(Array.from({ length: options.sessions }, open));
      stopped = false;
      running = Promise.all(Array.from({ length: writers }, write));
    },
    /** What somebody sees meanwhile, if anything: how many events there are, and which is the last of them. */
    async peek(): Promise<void> {
      const session = anyOf(sessions);
      const look = async (path: string) => call('GET', path, await token()).catch(() => undefined);
      const told = await look(urlOf(session));
      if (told?.status !== 200) return;
      const count: number = told.body.session.eventCount;
      // Where there was none, the first may come before it is asked for.
      const page =
        count === 0 ? undefined : await look(`${urlOf(session)}/events?limit=1&cursor=${writeSequence(count)}`);
      const text = page?.status === 200 ? page.body.events[0]?.payload.text : undefined;
      history.write({ read: session, count, ...(text !== undefined && { text }) });
    },
    /** What is made from now on takes much room, or little. */
    setHeavy: (heavy: boolean) => {
      isHeavy = heavy;
    },
    /** Ends the writers, has every open question answered, and closes the sessions; nothing is taken after that. */
    async finish(): Promise<string[]> {
      stopped = true;
      await running;
      stopped = false;
      for (const append of appends) if (!append.isSettled) await untilAnswered(append);
      for (const session of sessions) await close(session);
      for (const session of sessions) await untilAnswered(make(session));
      for (const append of appends.filter((_, at) => at % 10 === 0)) await untilAnswered(append);
      appends = [];
      return sessions;
    },
    read: (session: string) => readSession(session, highest.get(session) ?? 0),
  };
}
