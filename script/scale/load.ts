import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Seed } from '../../bench/seed.ts';

/** An append that the service answered with 202. */
interface Acknowledged {
  session: string;
  key: string;
  first: number;
  last: number;
}

/** The outcomes of the requests of a phase. */
export interface Answers {
  requests: number;
  acknowledged: number;
  /** The number of answers with each other status, and of broken connections. */
  others: Record<string, number>;
  /** Milliseconds of the slowest append, including its retries. */
  longest: number;
}

const EVENTS = 10;
const PATIENCE_MS = 10_000;
const PAUSE_MS = 100;

/** Opens a session over HTTP, so that the bus learns of it as well. @returns its id */
export async function openSession(url: string, { secret, environmentId, installationId }: Seed): Promise<string> {
  const reply = await fetch(`${url}/v1/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ environmentId, agentInstallationId: installationId }),
  });
  if (reply.status !== 201) throw new Error(`the session could not be opened: ${reply.status} ${await reply.text()}`);
  return ((await reply.json()) as { sessionId: string }).sessionId;
}

/** One writer for each session: it repeats an append until it is acknowledged, and then sends the next one. */
export function createLoad(url: string, secret: string, sessions: readonly string[]) {
  const acknowledged: Acknowledged[] = [];
  let answers = newAnswers();
  let stopped = false;
  const body = JSON.stringify({
    events: Array.from({ length: EVENTS }, (_, n) => ({
      eventType: 'notice',
      payload: { text: 'scale '.repeat(50), n },
    })),
  });

  async function send(session: string, key: string): Promise<boolean> {
    answers.requests++;
    const outcome = await fetch(`${url}/v1/sessions/${session}/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'idempotency-key': key },
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).then(
      async (reply) => ({ status: statusOf(reply), body: await reply.text() }),
      (error: Error) => ({ status: error.name === 'TimeoutError' ? 'no answer' : 'broken', body: '' }),
    );
    if (outcome.status !== '202') {
      answers.others[outcome.status] = (answers.others[outcome.status] ?? 0) + 1;
      return false;
    }
    const { firstSequence: first, lastSequence: last } = JSON.parse(outcome.body);
    acknowledged.push({ session, key, first, last });
    answers.acknowledged++;
    return true;
  }

  async function write(session: string): Promise<void> {
    while (!stopped) {
      const [key, started] = [randomUUID(), performance.now()];
      while (!(await send(session, key))) await pause(PAUSE_MS);
      answers.longest = Math.max(answers.longest, performance.now() - started);
    }
  }

  const writers = Promise.all(sessions.map(write));
  return {
    acknowledged,
    /** The answers since the last call. */
    take(): Answers {
      const taken = answers;
      answers = newAnswers();
      return taken;
    },
    async stop() {
      stopped = true;
      await writers;
    },
  };
}

/** The proxy's own answers are HTML. */
const statusOf = ({ status, headers }: Response): string =>
  headers.get('content-type')?.startsWith('text/html') ? `${status} of the proxy` : String(status);

const newAnswers = (): Answers => ({ requests: 0, acknowledged: 0, others: {}, longest: 0 });

export interface Count {
  acknowledged: number;
  events: number;
  lost: number;
  doubled: number;
  gaps: number;
}

/** Compares the acknowledged appends with the rows of the store. */
export async function countStored(databaseUrl: string, acknowledged: readonly Acknowledged[]): Promise<Count> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    `SELECT a.session_id, a.idempotency_key AS key, a.first_sequence AS first, a.last_sequence AS last, s.event_count
     FROM appends a JOIN sessions s USING (session_id) ORDER BY a.session_id, a.first_sequence`,
  );
  await client.end();
  const stored = new Map<string, { first: number; last: number }>();
  const ends = new Map<string, { last: number; count: number }>();
  let [doubled, gaps] = [0, 0];
  for (const { session_id: session, key, first, last, event_count: count } of rows) {
    if (stored.has(`${session} ${key}`)) doubled++;
    stored.set(`${session} ${key}`, { first, last });
    if (first !== (ends.get(session)?.last ?? 0) + 1) gaps++;
    ends.set(session, { last, count });
  }
  for (const { last, count } of ends.values()) if (last !== count) gaps++;
  const isLost = ({ session, key, first, last }: Acknowledged) => {
    const row = stored.get(`${session} ${key}`);
    return row?.first !== first || row.last !== last;
  };
  const lost = acknowledged.filter(isLost).length;
  return { acknowledged: acknowledged.length, events: acknowledged.length * EVENTS, lost, doubled, gaps };
}
