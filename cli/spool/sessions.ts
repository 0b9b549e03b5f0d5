import type { DatabaseSync } from 'node:sqlite';

export interface SessionRow {
  id: number;
  agent: string;
  agentSession: string;
  agentVersion: string | undefined;
  state: 'new' | 'opening' | 'open' | 'closed';
  serviceId: string | undefined;
  title: string | undefined;
  prompt: string | undefined;
  cwd: string | undefined;
  branch: string | undefined;
  lastAt: number | undefined;
  settled: boolean;
  sent: number;
}

/** What events tell of their session. What came first stays; times widen. */
export interface SessionFacts {
  agentVersion?: string | undefined;
  title?: string | undefined;
  prompt?: string | undefined;
  cwd?: string | undefined;
  branch?: string | undefined;
  firstAt?: number | undefined;
  lastAt?: number | undefined;
}

export function createSessions(db: DatabaseSync) {
  const ensure = db.prepare(`
    INSERT INTO sessions (agent, agent_session) VALUES (?, ?)
    ON CONFLICT (agent, agent_session) DO UPDATE SET agent = excluded.agent RETURNING id`);
  const get = db.prepare('SELECT * FROM sessions WHERE id = ?');
  const learn = db.prepare(`
    UPDATE sessions SET
      agent_version = coalesce(:agentVersion, agent_version), title = coalesce(title, :title),
      prompt = coalesce(prompt, :prompt), cwd = coalesce(cwd, :cwd), branch = coalesce(branch, :branch),
      first_at = min(coalesce(first_at, :firstAt), coalesce(:firstAt, first_at)),
      last_at = max(coalesce(last_at, :lastAt), coalesce(:lastAt, last_at)), settled = 0
    WHERE id = :id`);
  const settle = db.prepare('UPDATE sessions SET settled = 1 WHERE id = ? AND settled = 0');
  const setState = db.prepare('UPDATE sessions SET state = ?, service_id = ? WHERE id = ?');
  const open = db.prepare('INSERT INTO opened (session, service_id) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const opened = db.prepare('SELECT service_id FROM opened WHERE session = ? ORDER BY id');
  const openedAs = db.prepare('SELECT session FROM opened WHERE service_id = ?');
  const all = db.prepare('SELECT * FROM sessions ORDER BY coalesce(first_at, 0), id');
  const setSealed = db.prepare('UPDATE sessions SET sealed = ? WHERE id = ?');
  const addSent = db.prepare('UPDATE sessions SET sent = sent + ? WHERE id = ?');
  const completable = db.prepare(`
    SELECT id FROM sessions WHERE state = 'open' AND settled = 1 AND last_at < ?
      AND NOT EXISTS (SELECT 1 FROM batches WHERE session = sessions.id) ORDER BY last_at LIMIT ?`);
  const perAgent = db.prepare(
    'SELECT agent, count(*) AS sessions, sum(sent) AS sent FROM sessions GROUP BY agent ORDER BY agent',
  );

  return {
    /** The id of an agent's session, which is made where there is none. */
    ensure: (agent: string, agentSession: string): number => Number(ensure.get(agent, agentSession)?.id),
    get: (id: number): SessionRow => toRow(get.get(id) ?? {}),
    learn(id: number, facts: SessionFacts): void {
      const { agentVersion, title, prompt, cwd, branch, firstAt, lastAt } = facts;
      const values = { agentVersion, title, prompt, cwd, branch, firstAt, lastAt };
      const given = Object.entries(values).map(([name, value]) => [name, value ?? null]);
      learn.run({ ...(Object.fromEntries(given) as Record<string, string | number | null>), id });
    },
    settle: (id: number) => settle.run(id),
    setState(id: number, state: SessionRow['state'], serviceId: string | null = null): void {
      setState.run(state, serviceId, id);
      if (serviceId !== null) open.run(id, serviceId);
    },
    /** The service's sessions that its events went to, in order: more than one where the first was closed. */
    serviceIds: (id: number): string[] => opened.all(id).map((row) => String(row.service_id)),
    findByServiceId(serviceId: string): number | undefined {
      const row = openedAs.get(serviceId);
      return row && Number(row.session);
    },
    /** Every session, the oldest first. */
    list: (): SessionRow[] => all.all().map(toRow),
    /** How many batches of it there were so far. */
    setSealed: (id: number, batches: number) => setSealed.run(batches, id),
    addSent: (id: number, events: number) => addSent.run(events, id),
    /** Open sessions of which all is sent, and that have been quiet since the given time. */
    completable: (quietSince: number, limit: number) => completable.all(quietSince, limit).map(({ id }) => Number(id)),
    perAgent: () =>
      perAgent.all().map(({ agent, sessions, sent }) => ({
        agent: String(agent),
        sessions: Number(sessions),
        eventsSent: Number(sent),
      })),
  };
}

function toRow(row: Record<string, unknown>): SessionRow {
  const text = (value: unknown) => (value === null || value === undefined ? undefined : String(value));
  return {
    id: Number(row.id),
    agent: String(row.agent),
    agentSession: String(row.agent_session),
    agentVersion: text(row.agent_version),
    state: row.state as SessionRow['state'],
    serviceId: text(row.service_id),
    title: text(row.title),
    prompt: text(row.prompt),
    cwd: text(row.cwd),
    branch: text(row.branch),
    lastAt: row.last_at === null ? undefined : Number(row.last_at),
    settled: row.settled === 1,
    sent: Number(row.sent),
  };
}
