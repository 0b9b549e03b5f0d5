import { createClient, type Output } from '../../contract/client.ts';
import type { SessionEvent } from '../../contract/event.ts';
import { EXTENSIONS, type Extensions, type LiveChange } from '../../contract/extensions.ts';
import type { Route } from '../../contract/route.ts';
import { ROUTES, type Routes } from '../../contract/routes.ts';
import type { App } from '../app/app.ts';
import { createLive } from '../app/live.ts';
import { createIndexReader } from '../app/read-index.ts';
import { eventsOf, type Given } from '../session/model/test/events.ts';
import { sessionRow } from './rows.ts';

type Tables = Routes & Extensions;
const TABLES: Record<keyof Tables, Route> = { ...ROUTES, ...EXTENSIONS };
/** The answers of routes, given the parameters of path and query and the sent body. */
type Answers = { [Name in keyof Tables]?: (given: Record<string, string>, body?: string) => Output<Tables[Name]> };

export type Service = ReturnType<typeof createService>;

const NOW = '2026-11-22T12:00:00.000Z';
const organization = {
  ...{ organizationId: 'org_1', name: 'Acme', status: 'active' as const, ownerUserId: 'usr_1' },
  ...{ createdAt: NOW, updatedAt: NOW },
};

/** A service with one or several sessions, all with these events. Requests call a function; everything else is real. */
export function createService(given: readonly Given[] = [], rows = [sessionRow('ses_1')]) {
  let events: SessionEvent[] = eventsOf(...given);
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const rowOf = (sessionId = '') => {
    const row = rows.find(({ session }) => session.sessionId === sessionId) ?? sessionRow(sessionId);
    return { ...row, session: { ...row.session, eventCount: events.length } };
  };
  const answers: Answers = {
    getPerson: () => ({ userId: 'usr_1', emailVerified: true, role: 'owner', organization }),
    getDirectory: () => ({ baseUrl: 'https://capture.example.com/scim/v2' }),
    listEnvironments: () => ({ environments: [] }),
    getSession: ({ sessionId }) => ({ session: rowOf(sessionId).session }),
    listSessionEvents: () => ({ events, nextCursor: null }),
    getEventWindow: ({ from, limit }) => ({
      events: events.slice(Number(from) - 1, Number(from) - 1 + Number(limit)),
      nextCursor: null,
    }),
    listSessionSummaries: ({ sessionIds = '' }) => ({
      summaries: sessionIds.split(',').map((sessionId) => rowOf(sessionId).summary),
    }),
    getSessionFacts: ({ sessionId }) => ({
      summary: rowOf(sessionId).summary,
      pricesOf: '2026-11-22',
      ...{ branches: [], tools: [], files: [], commands: [], usage: [], milestones: [], turns: [], related: [] },
    }),
    findInSession: ({ q = '' }) => ({
      hits: events
        .map(({ sequence, eventType, payload }) => ({ sequence, eventType, text: JSON.stringify(payload), marks: [] }))
        .filter(({ text }) => text.includes(q)),
      next: null,
    }),
    listRepositories: () => ({ repositories: [] }),
    listSessionSenders: () => ({ senders: [] }),
    listSessionViews: () => ({ isRecorded: true, views: [] }),
    listViews: () => ({ views: [] }),
    searchSessions: () => ({ sessions: rows, nextCursor: null }),
  };

  function respond(address: string, { method = 'GET', signal, body }: RequestInit): Response {
    const { pathname, searchParams } = new URL(address, window.location.origin);
    if (pathname === EXTENSIONS.streamChanges.path) return new Response(openStream(signal));
    for (const [name, answer] of Object.entries(answers) as [
      keyof Tables,
      (given: object, body: unknown) => unknown,
    ][]) {
      const found = matcherOf(TABLES[name]).exec(pathname);
      if (!found || TABLES[name].method !== method) continue;
      const given = answer({ ...found.groups, ...Object.fromEntries(searchParams) }, body);
      return given instanceof Response ? given : Response.json(given);
    }
    return Response.json({ error: 'There is nothing here.', code: 'not_found' }, { status: 404 });
  }

  const openStream = (signal: AbortSignal | null | undefined) =>
    new ReadableStream<Uint8Array>({
      start(stream) {
        streams.add(stream);
        signal?.addEventListener('abort', () => streams.delete(stream) && stream.error(signal.reason));
      },
    });
  const tell = (change: Partial<LiveChange>) => {
    const whole = { sessionId: 'ses_1', eventCount: events.length, status: 'active', ...change };
    for (const stream of streams) stream.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(whole)}\n\n`));
  };

  const fetch = async (address: RequestInfo | URL, init: RequestInit = {}) => respond(String(address), init);
  return {
    /** A test may replace it. */
    answers,
    /** Adds events and notifies the live stream. */
    append(...more: Given[]) {
      events = [...events, ...eventsOf(...more).map((event, at) => ({ ...event, sequence: events.length + at + 1 }))];
      tell({});
    },
    app: (): App => ({
      auth: {
        token: async () => '',
        renew: async () => '',
        signIn: stay,
        finishSignIn: async () => '/',
        signOut: stay,
        onEnd: () => {},
      },
      api: createClient({ baseUrl: '', fetch }),
      indexes: createIndexReader(fetch),
      live: createLive(fetch),
    }),
  };
}

const stay = () => new Promise<never>(() => {});

const matcherOf = ({ path }: Route) => new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
