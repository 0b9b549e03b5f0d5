import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { writeSequence } from '../server/cursor.ts';
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

export interface LoadOptions {
  /** Addresses of the service's replicas, at the time. */
  urls: () => readonly string[];
  secret: string;
  /** How a session is opened, from `seed`. */
  machine: { environmentId: string; agentInstallationId: string };
  /** A token of somebody who may read. */
  token: () => Promise<string>;
  random: () => number;
  writers: number;
  sessions: number;
}

const MOST_EVENTS = 50;
/** A client gives up on an answer after this. */
const PATIENCE_MS = 1_500;
/** Between two tries. */
const PAUSE_MS = 40;
/** What is mended must answer within this, on a machine that has much else to do. */
export const RECOVERED_WITHIN_MS = 180_000;

export type Load = ReturnType<typeof createLoad>;

/** Writers that append to sessions, repeat what was not answered, and now and then what was; and a reader. */
export function createLoad(options: LoadOptions) {
  const { urls, secret, machine, token, random, writers } = options;
  const counts = { requests: 0, acknowledged: 0, unavailable: 0 };
  /** The last number that was acknowledged in each session. */
  const highest = new Map<string, number>();
  let sessions: string[] = [];
  let made = 0;
  let history: History;
  let appends: Append[] = [];
  let running: Promise<unknown> | undefined;
  let stopped = false;
  let isHeavy = false;

  const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const call = async (method: string, path: string, as: string, body?: object, key?: string) => {
    const reply = await fetch(`${anyOf(urls())}${path}`, {
      method,
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers: {
        authorization: `Bearer ${as}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };
  type Reply = Awaited<ReturnType<typeof call>>;

  /** Until the answer is one that `isDone`. */
  async function insist(ask: () => Promise<Reply>, isDone: (reply: Reply) => boolean): Promise<Reply> {
    for (const end = performance.now() + RECOVERED_WITHIN_MS; ; ) {
      const reply = await ask().catch(() => undefined);
      if (reply && isDone(reply)) return reply;
      if (performance.now() > end) throw new Error(`no answer any more: ${JSON.stringify(reply)}`);
      await pause(PAUSE_MS);
    }
  }

  async function open(): Promise<string> {
    const { body } = await insist(
      () => call('POST', '/v1/sessions', secret, machine),
      ({ status }) => status === 201,
    );
    return body.sessionId;
  }

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

  const make = (session: string): Append => {
    const count = made % 9 === 0 ? 1 + (made % MOST_EVENTS) : MOST_EVENTS;
    // What is random stays as long as it is, however it is packed.
    const padding = isHeavy || made % 100 === 99 ? randomBytes(isHeavy ? 1_500 : 30_000).toString('base64') : '';
    const append = { name: `append-${made++}`, session, count, padding };
    appends.push(append);
    return append;
  };

  async function write(): Promise<void> {
    for (let turn = 1; !stopped; turn++) {
      await untilAnswered(make(anyOf(sessions)));
      const earlier = anyOf(appends);
      if (turn % 10 === 0 && earlier.isSettled) await untilAnswered(earlier);
    }
  }

  async function read(session: string): Promise<Stored> {
    const as = await token();
    const isDone = ({ status }: Reply) => status === 200;
    const url = `/v1/organizations/me/sessions/${session}`;
    let count = 0;
    // What was answered 202 is seen a moment later; what is not seen in time is lost.
    for (const end = performance.now() + RECOVERED_WITHIN_MS; performance.now() < end; await pause(PAUSE_MS)) {
      count = (await insist(() => call('GET', url, as), isDone)).body.session.eventCount;
      if (count >= (highest.get(session) ?? 0)) break;
    }
    const events: Stored['events'][number][] = [];
    for (let cursor = ''; ; ) {
      const page = await insist(() => call('GET', `${url}/events?limit=5000${cursor}`, as), isDone);
      for (const { sequence, payload } of page.body.events) events.push({ sequence, text: payload.text });
      if (page.body.nextCursor === null) return { eventCount: count, events };
      cursor = `&cursor=${encodeURIComponent(page.body.nextCursor)}`;
    }
  }

  /** What somebody sees meanwhile, if anything: how many events there are, and which is the last of them. */
  async function peek(): Promise<void> {
    const session = anyOf(sessions);
    const url = `/v1/organizations/me/sessions/${session}`;
    const as = await token();
    const told = await call('GET', url, as).catch(() => undefined);
    if (told?.status !== 200) return;
    const count: number = told.body.session.eventCount;
    const last = `${url}/events?limit=1&cursor=${writeSequence(Math.max(1, count))}`;
    const page = await call('GET', last, as).catch(() => undefined);
    const text = page?.status === 200 ? page.body.events[0]?.payload.text : undefined;
    history.write({ read: session, count, ...(text !== undefined && { text }) });
  }

  async function close(session: string): Promise<void> {
    // 409: an earlier try was taken, and its answer lost.
    await insist(
      () => call('POST', `/v1/sessions/${session}/complete`, secret, {}),
      (reply) => reply.status === 200 || reply.status === 409,
    );
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
    peek,
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
    read,
  };
}
