import { setTimeout as pause } from 'node:timers/promises';
import type { Stored } from './judge.ts';

export interface ClientOptions {
  /** Addresses of the service's replicas, at the time. */
  urls: () => readonly string[];
  /** A token of somebody who may read. */
  token: () => Promise<string>;
  random: () => number;
}

export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  body: any;
}

/** Which replica is asked, and how many milliseconds its answer is waited for; any, and not for long, unless it is said. */
export interface Target {
  url?: string | undefined;
  patience?: number;
}

/** A client gives up on an answer after this. */
const PATIENCE_MS = 1_500;
/** Between two tries. */
export const PAUSE_MS = 40;
/** What is mended must answer within this, on a machine that has much else to do. */
export const RECOVERED_WITHIN_MS = 180_000;
/** Events that are read at once: on a busy machine more of them are not there before a client gives up. */
const PAGE = 500;

/** Asks any of the replicas, and reads sessions. */
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
   * Until the answer is one of these.
   * @throws where there is none for as long as anything may take to recover
   */
  async function insist(statuses: readonly number[], ...asked: Parameters<typeof call>): Promise<Reply> {
    for (const end = performance.now() + RECOVERED_WITHIN_MS; ; ) {
      const reply = await call(...asked).catch(() => undefined);
      if (reply && statuses.includes(reply.status)) return reply;
      if (performance.now() > end) throw new Error(`${asked[0]} ${asked[1]} has no answer any more`);
      await pause(PAUSE_MS);
    }
  }

  const look = async (path: string) => (await insist([200], 'GET', path, await token())).body;
  const urlOf = (session: string) => `/v1/organizations/me/sessions/${session}`;

  /** @returns how many events the session has once they are as many, or cannot be waited for any longer */
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

    /** Ids of all sessions of the organization, the latest first. */
    async listSessions(): Promise<string[]> {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const { sessions, nextCursor } = await look(`/v1/organizations/me/sessions?limit=100${cursor}`);
        found.push(...sessions.map(({ sessionId }: { sessionId: string }) => sessionId));
        if (nextCursor === null) return found;
        cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
      }
    },

    /** The agent's own name of a session. */
    async sourceOf(session: string): Promise<string | undefined> {
      return (await look(`${urlOf(session)}/events?limit=1`)).events[0]?.payload.source?.session;
    },

    /**
     * What is answered 202 is seen a moment later; what is not seen in time is lost.
     * @param least number of the last event that must be there
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
