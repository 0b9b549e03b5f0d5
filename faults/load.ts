import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { writeSequence } from '../server/cursor.ts';
import { type ClientOptions, createClient, PAUSE_MS, RECOVERED_WITHIN_MS, type Target } from './client.ts';
import { type History, textOf } from './history.ts';
import type { Stored } from './judge.ts';

/** One append, repeated until the service says whether it was accepted. */
interface Append {
  name: string;
  session: string;
  count: number;
  /** Text in each of its events, to make them larger. */
  padding: string;
  isSettled?: boolean;
}

export interface LoadOptions extends ClientOptions {
  secret: string;
  /** The machine and agent with which sessions are opened. */
  machine: { environmentId: string; agentInstallationId: string };
  /** Counts the stored rows of a session, including its events. */
  countRows: (session: string) => Promise<number>;
  /**
   * Sets the times of these sessions back, as if they had long been idle, and starts a process of the service, which then
   * deletes expired sessions.
   */
  expire: (sessions: readonly string[]) => Promise<void>;
  writers: number;
  sessions: number;
}

const MAX_EVENTS = 50;
/** A started service deletes expired sessions within this time, unless a fault delays it. */
const EXPIRES_WITHIN_MS = 2_000;
/** Longer than any request can take. */
const ANSWER_PATIENCE_MS = 20_000;

/**
 * Ends the prepared session at the moment of a fault.
 * @param recovered resolves once the service works again
 */
export type Ending = (recovered: Promise<unknown>) => Promise<void>;

export type Load = ReturnType<typeof createLoad>;

/** Writers that append to sessions, repeat unanswered appends and sometimes answered ones, and a reader. */
export function createLoad(options: LoadOptions) {
  const { secret, machine, token, random, writers, urls, countRows } = options;
  const { call, insist, urlOf, readSession, untilCounted } = createClient(options);
  const counts = { requests: 0, acknowledged: 0, unavailable: 0 };
  /** The highest acknowledged number of each session. */
  const highest = new Map<string, number>();
  let sessions: string[] = [];
  /** Sessions that end before the chapter does. */
  let extra: string[] = [];
  let appends: Append[] = [];
  let made = 0;
  let history: History;
  let running: Promise<unknown> | undefined;
  let stopped = false;
  let isHeavy = false;

  const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const open = async (where = machine): Promise<string> =>
    (await insist([201], 'POST', '/v1/sessions', secret, where)).body.sessionId;

  /** @returns whether the service said that it accepted or refused the append */
  async function send(append: Append, target?: Target): Promise<boolean> {
    const { name, session, count, padding } = append;
    const events = Array.from({ length: count }, (_, index) => ({
      eventType: 'notice',
      payload: { text: textOf(name, index), padding },
    }));
    history.write({ send: name, session, count });
    counts.requests++;
    try {
      const path = `/v1/sessions/${session}/events`;
      const { status, body } = await call('POST', path, secret, { events }, name, target);
      const { firstSequence: first, lastSequence: last, code } = body;
      history.write({ answer: name, status, ...(code !== undefined ? { code } : { first, last }) });
      if (status === 503) counts.unavailable++;
      if (status < 300) {
        counts.acknowledged++;
        highest.set(session, Math.max(last, highest.get(session) ?? 0));
      }
      const isSettled = status < 300 || code === 'session_closed' || code === 'session_deleted';
      append.isSettled ||= isSettled;
      return isSettled;
    } catch {
      history.write({ unanswered: name });
      return false;
    }
  }

  async function untilAnswered(append: Append, target?: Target): Promise<void> {
    for (const end = performance.now() + 2 * RECOVERED_WITHIN_MS; !(await send(append, target)) && !stopped; ) {
      if (performance.now() > end) throw new Error(`${append.name} no longer gets an answer`);
      await pause(PAUSE_MS);
    }
  }

  function make(session: string): Append {
    const count = made % 9 === 0 ? 1 + (made % MAX_EVENTS) : MAX_EVENTS;
    // Random text cannot be compressed. 50 × 40 kB exceed the largest message of the bus.
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
    // 409: an earlier attempt succeeded, but its answer was lost.
    await insist([200, 409], 'POST', `/v1/sessions/${session}/complete`, secret, {});
    history.write({ closed: session });
  }

  /** Deleted sessions, and sessions that may have expired. */
  const gone = new Set<string>();
  const aged = new Set<string>();
  const ways = [prepareDeletion, prepareRevocation, prepareExpiry];
  let prepared = 0;

  /** Opens a session with an append, which ends before the chapter does. */
  async function openExtra(where = machine): Promise<string> {
    const session = await open(where);
    extra.push(session);
    await untilAnswered(make(session));
    return session;
  }

  async function prepareDeletion(): Promise<Ending> {
    const session = await openExtra();
    return async () => {
      const asOwner = await token();
      gone.add(session);
      history.write({ deleting: session });
      await insist([200], 'DELETE', urlOf(session), asOwner);
      history.write({ deleted: session });
      await untilAnswered(make(session));
    };
  }

  async function prepareRevocation(): Promise<Ending> {
    const where = await newMachine();
    const session = await openExtra(where);
    return async () => {
      await insist([200], 'DELETE', `/v1/organizations/me/environments/${where.environmentId}`, await token());
      history.write({ closed: session });
      await untilAnswered(make(session));
    };
  }

  /** Two old sessions. One gets an append, which either keeps it or comes too late and is refused; the other one expires. */
  async function prepareExpiry(): Promise<Ending> {
    const [kept, left] = [await openExtra(), await openExtra()];
    for (const session of [kept, left]) await untilCounted(session, 1);
    for (const session of [kept, left]) {
      aged.add(session);
      history.write({ aged: session });
    }
    await options.expire([kept, left]);
    return async (recovered) => {
      await untilAnswered(make(kept));
      await recovered;
      // The fault may have kept the service from deleting it, and the next sweep comes an hour later or with the next start.
      if (!(await hasGone(left, EXPIRES_WITHIN_MS))) await options.expire([]);
      await hasGone(left, RECOVERED_WITHIN_MS);
    };
  }

  /** @returns whether the session disappears within this time */
  async function hasGone(session: string, patience: number): Promise<boolean> {
    for (const end = performance.now() + patience; performance.now() < end; await pause(PAUSE_MS)) {
      const told = await call('GET', urlOf(session), await token()).catch(() => undefined);
      if (told?.status === 404) return true;
    }
    return false;
  }

  /** Waits until no row remains, for at most the time that a recovery may take. */
  async function readDeleted(session: string): Promise<Stored> {
    await insist([404], 'GET', urlOf(session), await token());
    for (const end = performance.now() + RECOVERED_WITHIN_MS; ; await pause(PAUSE_MS)) {
      const eventCount = await countRows(session);
      if (eventCount === 0 || performance.now() > end) return { eventCount, events: [], isGone: true };
    }
  }

  async function newMachine(): Promise<LoadOptions['machine']> {
    const body = { hostname: `revoked-${made}-${prepared}`, platform: 'linux', serviceCliVersion: '0.1.0' };
    const { environmentId } = (await insist([200, 201], 'POST', '/v1/environments', secret, body)).body;
    const agents = `/v1/environments/${environmentId}/agents`;
    const { installationId } = (await insist([200, 201], 'POST', agents, secret, { agentId: 'codex' })).body;
    return { environmentId, agentInstallationId: installationId };
  }

  return {
    counts,
    /** Opens the session that ends next: by deletion, by revocation of its machine or by expiry, in turn. */
    prepareEnding: (): Promise<Ending> => (ways[prepared++ % ways.length] as (typeof ways)[number])(),
    /** Opens new sessions and starts writers on them, which write to the history. */
    async start(given: History): Promise<void> {
      history = given;
      sessions = await Promise.all(Array.from({ length: options.sessions }, () => open()));
      extra = [];
      stopped = false;
      running = Promise.all(Array.from({ length: writers }, write));
    },
    /** Records what a reader sees now, if it gets an answer: the count of events, and the last one. */
    async peek(): Promise<void> {
      const session = anyOf(sessions);
      const look = async (path: string) => call('GET', path, await token()).catch(() => undefined);
      const told = await look(urlOf(session));
      if (told?.status !== 200) return;
      const count: number = told.body.session.eventCount;
      // In a session without events, the first one may arrive before the second request and would be missing in the count.
      const page =
        count === 0 ? undefined : await look(`${urlOf(session)}/events?limit=1&cursor=${writeSequence(count)}`);
      const text = page?.status === 200 ? page.body.events[0]?.payload.text : undefined;
      history.write({ read: session, count, ...(text !== undefined && { text }) });
    },
    /** Makes the appends from now on large or small. */
    setHeavy: (heavy: boolean) => {
      isHeavy = heavy;
    },
    /** Ends the writers, repeats every unsettled append, and closes the sessions. Later appends must be refused. */
    async finish(): Promise<string[]> {
      stopped = true;
      await running;
      stopped = false;
      for (const append of appends) if (!append.isSettled) await untilAnswered(append);
      for (const session of sessions) await close(session);
      for (const session of sessions) await untilAnswered(make(session));
      for (const append of appends.filter((_, at) => at % 10 === 0)) await untilAnswered(append);
      appends = [];
      return [...sessions, ...extra];
    },
    async read(session: string): Promise<Stored> {
      const hasExpired = async () =>
        aged.has(session) && (await insist([200, 404], 'GET', urlOf(session), await token())).status === 404;
      const isGone = gone.has(session) || (await hasExpired());
      return isGone ? readDeleted(session) : readSession(session, highest.get(session) ?? 0);
    },

    /** Sends an append to every replica, waits patiently for all answers, and measures the slowest one in milliseconds. */
    async longestAnswer(): Promise<number> {
      const waits = urls().map(async (url) => {
        const began = performance.now();
        await send(make(anyOf(sessions)), { url, patience: ANSWER_PATIENCE_MS });
        return performance.now() - began;
      });
      return Math.max(...(await Promise.all(waits)));
    },

    /** Measures the milliseconds from now until every replica accepts an append. */
    async untilTaken(): Promise<number> {
      const began = performance.now();
      await Promise.all(urls().map((url) => untilAnswered(make(anyOf(sessions)), { url })));
      return performance.now() - began;
    },

    /**
     * Measures the milliseconds from now until every event acknowledged so far can be read.
     * @throws if they cannot be read within the time of a recovery
     */
    async untilReadable(): Promise<number> {
      const began = performance.now();
      const wanted = sessions.map((session) => [session, highest.get(session) ?? 0] as const);
      for (const [session, least] of wanted) {
        const count = await untilCounted(session, least);
        // Otherwise the load would go on, and each further session would be waited for as long.
        if (count < least) throw new Error(`of ${least} acknowledged events of ${session} only ${count} can be read`);
      }
      return performance.now() - began;
    },
  };
}
