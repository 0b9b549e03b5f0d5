import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { writeSequence } from '../server/cursor.ts';
import { type ClientOptions, createClient, PAUSE_MS, RECOVERED_WITHIN_MS, type Target } from './client.ts';
import { type History, textOf } from './history.ts';
import type { Stored } from './judge.ts';

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
  /** Rows that the store has of a session, its events included. */
  countRows: (session: string) => Promise<number>;
  /**
   * Makes it look as if nothing had come to these sessions for long, and starts a process of the service, which then looks for
   * what has expired.
   */
  expire: (sessions: readonly string[]) => Promise<void>;
  writers: number;
  sessions: number;
}

const MOST_EVENTS = 50;
/** A service that was started has deleted what has expired within this, unless something is broken. */
const EXPIRES_WITHIN_MS = 2_000;
/** Longer than any request may take. */
const ANSWER_PATIENCE_MS = 20_000;

/**
 * Ends what was prepared, right when something breaks.
 * @param recovered resolves once all goes on
 */
export type Ending = (recovered: Promise<unknown>) => Promise<void>;

export type Load = ReturnType<typeof createLoad>;

/** Writers that append to sessions, repeat what was not answered, and now and then what was; and a reader. */
export function createLoad(options: LoadOptions) {
  const { secret, machine, token, random, writers, urls, countRows } = options;
  const { call, insist, urlOf, readSession, untilCounted } = createClient(options);
  const counts = { requests: 0, acknowledged: 0, unavailable: 0 };
  /** The last number that was acknowledged in each session. */
  const highest = new Map<string, number>();
  let sessions: string[] = [];
  /** Those that were ended before the chapter was. */
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

  /** @returns whether somebody said what became of it */
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

  /** Sessions that were deleted, and those that may have expired. */
  const gone = new Set<string>();
  const aged = new Set<string>();
  const ways = [prepareDeletion, prepareRevocation, prepareExpiry];
  let prepared = 0;

  /** A session with an append, which ends with the chapter or before. */
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

  /** Two old sessions. One gets an append, which comes before it expires and keeps it, or is refused; the other one expires. */
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
      // What was broken may have kept the service from it, and it looks again an hour later, or when it starts.
      if (!(await hasGone(left, EXPIRES_WITHIN_MS))) await options.expire([]);
      await hasGone(left, RECOVERED_WITHIN_MS);
    };
  }

  /** @returns whether nobody sees the session any more within this time */
  async function hasGone(session: string, patience: number): Promise<boolean> {
    for (const end = performance.now() + patience; performance.now() < end; await pause(PAUSE_MS)) {
      const told = await call('GET', urlOf(session), await token()).catch(() => undefined);
      if (told?.status === 404) return true;
    }
    return false;
  }

  /** Waits until nothing is left, for as long as anything may take to recover. */
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
    /** Opens what is to end next: it is deleted, its machine is revoked, or it expires; in turn. */
    prepareEnding: (): Promise<Ending> => (ways[prepared++ % ways.length] as (typeof ways)[number])(),
    /** New sessions, and writers on them, who tell the history. */
    async start(given: History): Promise<void> {
      history = given;
      sessions = await Promise.all(Array.from({ length: options.sessions }, () => open()));
      extra = [];
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
      return [...sessions, ...extra];
    },
    async read(session: string): Promise<Stored> {
      const hasExpired = async () =>
        aged.has(session) && (await insist([200, 404], 'GET', urlOf(session), await token())).status === 404;
      const isGone = gone.has(session) || (await hasExpired());
      return isGone ? readDeleted(session) : readSession(session, highest.get(session) ?? 0);
    },

    /** Asks every replica for an append, and waits for the answer however long it takes: for the longest, in milliseconds. */
    async longestAnswer(): Promise<number> {
      const waits = urls().map(async (url) => {
        const began = performance.now();
        await send(make(anyOf(sessions)), { url, patience: ANSWER_PATIENCE_MS });
        return performance.now() - began;
      });
      return Math.max(...(await Promise.all(waits)));
    },

    /** How many milliseconds it takes from now on until every replica takes an append. */
    async untilTaken(): Promise<number> {
      const began = performance.now();
      await Promise.all(urls().map((url) => untilAnswered(make(anyOf(sessions)), { url })));
      return performance.now() - began;
    },

    /** How many milliseconds it takes from now on until all that was acknowledged before can be read. */
    async untilReadable(): Promise<number> {
      const began = performance.now();
      const wanted = sessions.map((session) => [session, highest.get(session) ?? 0] as const);
      for (const [session, least] of wanted) await untilCounted(session, least);
      return performance.now() - began;
    },
  };
}
