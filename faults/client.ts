import { setTimeout as pause } from 'node:timers/promises';
import type { Stored } from './judge.ts';

export interface ClientOptions {
  /** Current addresses of the service's replicas. */
  urls: () => readonly string[];
  /** A token of a member who may read the sessions. */
  token: () => Promise<string>;
  random: () => number;
}

export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  body: any;
}

/** The replica that gets a request, by default a random one, and how many milliseconds the client waits for its answer. */
export interface Target {
  url?: string | undefined;
  patience?: number;
}

/** The default time after which a client gives up waiting for an answer. */
const PATIENCE_MS = 1_500;
/** Pause between two attempts. */
export const PAUSE_MS = 40;
/** After a fault is repaired, the service must answer within this time, even on a busy machine. */
export const RECOVERED_WITHIN_MS = 180_000;
/** Events per page: on a busy machine, a larger page arrives only after the client has given up. */
const PAGE = 500;

/** Sends requests to random replicas and reads sessions. */
export function createClient({ urls, token, random }: ClientOptions) {
  const anyUrl = () => {
    const all = urls();
    return all[Math.floor(random() * all.length)];
  };

  async function call(
    method: string,
    path: string,
    as: string,
    body?: object,
    key?: string,
    { url = anyUrl(), patience = PATIENCE_MS }: Target = {},
  ): Promise<Reply> {
    const reply = await fetch(`${url}${path}`, {
      method,
      signal: AbortSignal.timeout(patience),
      headers: {
        authorization: `Bearer ${as}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  }

  /**
   * Repeats a request until its answer has one of these statuses.
   * @throws if that takes longer than a recovery may take
   */
  async function insist(statuses: readonly number[], ...asked: Parameters<typeof call>): Promise<Reply> {
    for (const end = performance.now() + RECOVERED_WITHIN_MS; ; ) {
      const reply = await call(...asked).catch(() => undefined);
      if (reply && statuses.includes(reply.status)) return reply;
      if (performance.now() > end) throw new Error(`${asked[0]} ${asked[1]} no longer gets an answer`);
      await pause(PAUSE_MS);
    }
  }

  const look = async (path: string) => (await insist([200], 'GET', path, await token())).body;
  const urlOf = (session: string) => `/v1/organizations/me/sessions/${session}`;

  /** @returns the session's count of events, once it reaches `least` or the time for a recovery is over */
  async function untilCounted(session: string, least: number): Promise<number> {
    for (const end = performance.now() + RECOVERED_WITHIN_MS; ; await pause(PAUSE_MS)) {
      const { eventCount } = (await look(urlOf(session))).session;
      if (eventCount >= least || performance.now() > end) return eventCount;
    }
  }

  return {
    call,
    insist,
    urlOf,
    untilCounted,

    /** Ids of all sessions of the organization, latest first. */
    async listSessions(): Promise<string[]> {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const { sessions, nextCursor } = await look(`/v1/organizations/me/sessions?limit=100${cursor}`);
        found.push(...sessions.map(({ sessionId }: { sessionId: string }) => sessionId));
        if (nextCursor === null) return found;
        cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
      }
    },

    /** The agent's own id of a session. */
    async sourceOf(session: string): Promise<string | undefined> {
      return (await look(`${urlOf(session)}/events?limit=1`)).events[0]?.payload.source?.session;
    },

    /**
     * Events answered with 202 become visible a moment later. An event that is not visible in time counts as lost.
     * @param least number of the last event that must be stored
     */
    async readSession(session: string, least: number): Promise<Stored> {
      const eventCount = await untilCounted(session, least);
      const events: { sequence: number; text: string }[] = [];
      for (let cursor = ''; ; ) {
        const page = await look(`${urlOf(session)}/events?limit=${PAGE}${cursor}`);
        for (const { sequence, payload } of page.events) events.push({ sequence, text: payload.text });
        if (page.nextCursor === null) return { eventCount, events };
        cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
      }
    },
  };
}
