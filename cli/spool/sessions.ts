import type { DatabaseSync } from 'node:sqlite';
import type { Visibility } from '../../contract/session.ts';
import type { Verdict } from '../decide/verdicts.ts';

/** The facts about a session from its records. The first value stays, and the range of times widens. */
export interface SessionFacts {
  agentVersion?: string | undefined;
  /** The agent's own id of the session that it was forked from. */
  forkedFrom?: string | undefined;
  title?: string | undefined;
  prompt?: string | undefined;
  cwd?: string | undefined;
  branch?: string | undefined;
  /** The times of its records, in milliseconds since 1970. */
  firstAt?: number | undefined;
  lastAt?: number | undefined;
  /** When one of its files was last written to. */
  modifiedAt?: number | undefined;
  /** Whether its agent has said that the session is over. */
  ended?: boolean | undefined;
}

/**
 * An agent's session. `new`: the service has not been asked for it. `open`: its next events go to `serviceId`. `closed`: that
 * session of the service is completed, and later events continue it in another one.
 */
export interface SessionRow extends SessionFacts {
  id: number;
  agent: string;
  agentSession: string;
  state: 'new' | 'open' | 'closed';
  serviceId: string | undefined;
  /** How many sessions of the service were completed before the present one. */
  generation: number;
  /** From this generation on, it is captured under keys of this machine, because somebody else captures it, too. */
  ownFrom: number | undefined;
  /** The decision about it. */
  verdict: Verdict;
  /** Whether every file of the session was read to its end. */
  settled: boolean;
  /** Whether the service had some of its events before this spool sent any. */
  sentElsewhere: boolean;
  sent: number;
  /**
   * How many events the service's session had, according to its last answer. Undefined if the session has no key to ask for
   * it by.
   */
  serviceEvents: number | undefined;
}

/** A session of the service that received events. */
export interface OpenedSession {
  serviceId: string;
  visibility: Visibility;
  /**
   * The visibility that it had to get when it was opened or found. The spool stores this, so that a crash before the session is
   * hidden loses nothing.
   */
  wanted: Visibility;
}

/** A session is over if its agent does not run any more and nothing was written for this long. */
const QUIET_MS = 5 * 60 * 1000;
/** A session is over if nothing was written for this long, whatever runs. */
const REST_MS = 24 * 60 * 60 * 1000;

const LEARNED = [
  ...(['agentVersion', 'forkedFrom', 'title', 'prompt', 'cwd', 'branch'] as const),
  ...(['firstAt', 'lastAt', 'modifiedAt'] as const),
];

/** The rank of a visibility, by strictness. A column without a value ranks as `team`. */
const rankOf = (column: string) => `CASE ${column} WHEN 'private' THEN 2 WHEN 'facts' THEN 1 ELSE 0 END`;

export function createSessions(db: DatabaseSync) {
  const ensure = db.prepare(`
    INSERT INTO sessions (agent, agent_session) VALUES (?, ?)
    ON CONFLICT (agent, agent_session) DO UPDATE SET agent = excluded.agent RETURNING id`);
  const ROW =
    'SELECT sessions.*, (SELECT verdict FROM kept_back WHERE kept_back.session = sessions.id) AS verdict FROM sessions';
  const get = db.prepare(`${ROW} WHERE id = ?`);
  // If nothing of a session was captured yet, its file still names its parent.
  const find = db.prepare(`
    SELECT id, coalesce(forked_from, (SELECT min(origin ->> 'forkedFrom') FROM files
      WHERE session = sessions.id AND origin ->> 'subagent' IS NULL)) AS forked_from
    FROM sessions WHERE agent = ? AND agent_session = ?`);
  const learn = db.prepare(`
    UPDATE sessions SET
      agent_version = coalesce(:agentVersion, agent_version), forked_from = coalesce(forked_from, :forkedFrom),
      title = coalesce(title, :title), prompt = coalesce(prompt, :prompt), cwd = coalesce(cwd, :cwd),
      branch = coalesce(branch, :branch),
      first_at = min(coalesce(first_at, :firstAt), coalesce(:firstAt, first_at)),
      last_at = max(coalesce(last_at, :lastAt), coalesce(:lastAt, last_at)),
      changed_at = max(coalesce(changed_at, :modifiedAt), coalesce(:modifiedAt, changed_at)),
      settled = 0, ended = coalesce(:ended, 0)
    WHERE id = :id`);
  const settled = db.prepare('SELECT 1 FROM sessions WHERE agent = ? AND agent_session = ? AND settled = 1');
  const settle = db.prepare('UPDATE sessions SET settled = 1 WHERE id = ? AND settled = 0');
  const setState = db.prepare('UPDATE sessions SET state = ?, service_id = ? WHERE id = ?');
  const close = db.prepare("UPDATE sessions SET state = 'closed', generation = generation + 1 WHERE id = ?");
  const setOwn = db.prepare('UPDATE sessions SET own_from = generation WHERE id = ?');
  const setDeleted = db.prepare("UPDATE sessions SET state = 'closed', service_id = NULL WHERE id = ?");
  const expire = db.prepare('UPDATE sessions SET expired_until = max(coalesce(expired_until, 0), ?) WHERE id = ?');
  const expiredUntil = db.prepare('SELECT expired_until FROM sessions WHERE agent = ? AND agent_session = ?');
  const forgetText = db.prepare('UPDATE sessions SET title = NULL, prompt = NULL WHERE id = ? AND sent = 0');
  const setSentElsewhere = db.prepare('UPDATE sessions SET sent_elsewhere = ? WHERE id = ?');
  const open = db.prepare('INSERT INTO opened (session, service_id) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const opened = db.prepare('SELECT service_id, visibility, wanted FROM opened WHERE session = ? ORDER BY id');
  const setWanted = db.prepare('UPDATE opened SET visibility = ?, wanted = ? WHERE service_id = ?');
  const setVisibility = db.prepare('UPDATE opened SET visibility = ? WHERE service_id = ?');
  const openedAs = db.prepare('SELECT session FROM opened WHERE service_id = ?');
  const all = db.prepare(`${ROW} ORDER BY coalesce(first_at, 0), id`);
  const any = db.prepare('SELECT 1 FROM sessions LIMIT 1');
  const setServiceEvents = db.prepare('UPDATE sessions SET service_events = ? WHERE id = ?');
  const addSent = db.prepare('UPDATE sessions SET sent = sent + ? WHERE id = ?');
  const QUIET = 'max(coalesce(last_at, 0), coalesce(changed_at, 0))';
  const completable = db.prepare(`
    SELECT id FROM sessions WHERE state = 'open' AND settled = 1 AND (ended = 1 OR ${QUIET} < :restedSince
      OR (${QUIET} < :quietSince AND agent IN (SELECT value FROM json_each(:stoppedAgents))))
      AND NOT EXISTS (SELECT 1 FROM batches WHERE session = sessions.id) LIMIT :limit`);
  const overexposed = db.prepare(`
    WITH RECURSIVE restricted (agent, session, visibility) AS (
      SELECT agent, session, visibility FROM decided.verdicts WHERE visibility IS NOT NULL
      UNION SELECT restricted.agent, forks.session, restricted.visibility
        FROM restricted JOIN decided.forks AS forks ON forks.agent = restricted.agent AND forks.parent = restricted.session
          JOIN decided.verdicts AS fork ON fork.agent = forks.agent AND fork.session = forks.session)
    SELECT DISTINCT sessions.id FROM restricted
      JOIN spool.sessions ON sessions.agent = restricted.agent AND agent_session = restricted.session
      JOIN opened ON opened.session = sessions.id
    WHERE ${rankOf('restricted.visibility')} > ${rankOf('opened.visibility')}
      AND coalesce(deferred_until, 0) <= ? LIMIT ?`);
  const openAgents = db.prepare("SELECT DISTINCT agent FROM sessions WHERE state = 'open'");
  const perAgent = db.prepare(`
    SELECT agent, count(*) AS sessions, sum(sent) AS sent FROM sessions WHERE sent > 0 GROUP BY agent ORDER BY agent`);

  return {
    /** The id of an agent's session. Adds the session if it does not exist yet. */
    ensure: (agent: string, agentSession: string): number => Number(ensure.get(agent, agentSession)?.id),
    get: (id: number): SessionRow => toRow(get.get(id) ?? {}),
    /** An agent's session and the session that it was forked from. Undefined if capture never met it. */
    find(agent: string, agentSession: string): Pick<SessionRow, 'id' | 'forkedFrom'> | undefined {
      const row = find.get(agent, agentSession);
      return row && { id: Number(row.id), forkedFrom: row.forked_from === null ? undefined : String(row.forked_from) };
    },
    learn(id: number, facts: SessionFacts): void {
      const learned = LEARNED.map((name) => [name, facts[name] ?? null] as const);
      learn.run({ ...Object.fromEntries(learned), ended: facts.ended ? 1 : null, id });
    },
    settle: (id: number) => settle.run(id),
    /** Marks every session as ended: no agent continues any of them. */
    endAll: () => db.exec('UPDATE sessions SET ended = 1'),
    /** Whether every file of an agent's session was read to its end. */
    isSettled: (agent: string, agentSession: string): boolean => settled.get(agent, agentSession) !== undefined,
    setOpen(id: number, serviceId: string, serviceEvents: number): void {
      setState.run('open', serviceId, id);
      setServiceEvents.run(serviceEvents, id);
      open.run(id, serviceId);
    },
    setServiceEvents: (id: number, events: number) => setServiceEvents.run(events, id),
    /** Closes the service's session: the next events go to another one. */
    close: (id: number) => close.run(id),
    /** Somebody else captures the session, too. From now on, it goes to sessions of this machine alone. */
    setOwn: (id: number) => setOwn.run(id),
    /** The service has removed the records written until then because of their age. */
    expire: (id: number, until: number) => expire.run(until, id),
    /** Records of the agent's session until this time have expired at the service; 0 if none have. */
    expiredUntil: (agent: string, agentSession: string): number =>
      Number(expiredUntil.get(agent, agentSession)?.expired_until ?? 0),
    /** Makes the next request ask the service for the session again. */
    reset: (id: number) => setState.run('new', null, id),
    /**
     * Forgets the title and prompt, which repeat events that were thrown away. They stay if the service has received events
     * of the session.
     */
    forgetText: (id: number) => forgetText.run(id),
    /** Notes that the service has nothing of the session any more. */
    setDeleted: (id: number) => setDeleted.run(id),
    setSentElsewhere: (id: number, isSent: boolean) => setSentElsewhere.run(isSent ? 1 : 0, id),
    /** The sessions of the service that its events went to, in order. There is more than one if the first was closed. */
    serviceIds: (id: number): string[] => opened.all(id).map((row) => String(row.service_id)),
    /** The same sessions, with who may see each according to the service's last answer. `team` if the service was not asked. */
    openedAs: (id: number): OpenedSession[] =>
      opened.all(id).map(({ service_id, visibility, wanted }) => ({
        serviceId: String(service_id),
        visibility: (visibility as Visibility | null) ?? 'team',
        wanted: (wanted as Visibility | null) ?? 'team',
      })),
    setWanted: (serviceId: string, visibility: Visibility, wanted: Visibility) =>
      setWanted.run(visibility, wanted, serviceId),
    setVisibility: (serviceId: string, visibility: Visibility) => setVisibility.run(visibility, serviceId),
    findByServiceId(serviceId: string): number | undefined {
      const row = openedAs.get(serviceId);
      return row && Number(row.session);
    },
    /** Every session, the oldest first. */
    list: (): SessionRow[] => all.all().map(toRow),
    isEmpty: (): boolean => any.get() === undefined,
    addSent: (id: number, events: number) => addSent.run(events, id),
    /** Open sessions that are over and fully sent. `now` is in milliseconds. The stopped agents have no process. */
    completable: (now: number, stoppedAgents: readonly string[], limit: number): number[] =>
      completable
        .all({
          ...{ restedSince: now - REST_MS, quietSince: now - QUIET_MS },
          ...{ stoppedAgents: JSON.stringify(stoppedAgents), limit },
        })
        .map(({ id }) => Number(id)),
    /**
     * Sessions that the service shows to more people than a person decided for them, or for a session that they were forked
     * from.
     */
    overexposed: (now: number, limit: number): number[] => overexposed.all(now, limit).map(({ id }) => Number(id)),
    /** Agents with sessions that are not over. */
    openAgents: (): string[] => openAgents.all().map(({ agent }) => String(agent)),
    /** Per agent, the number of sessions with sent events, and the number of those events. */
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
  const time = (value: unknown) => (typeof value === 'number' ? value : undefined);
  return {
    id: Number(row.id),
    agent: String(row.agent),
    agentSession: String(row.agent_session),
    agentVersion: text(row.agent_version),
    state: row.state as SessionRow['state'],
    verdict: (text(row.verdict) ?? 'wanted') as Verdict,
    serviceId: text(row.service_id),
    generation: Number(row.generation),
    ownFrom: time(row.own_from),
    forkedFrom: text(row.forked_from),
    title: text(row.title),
    prompt: text(row.prompt),
    cwd: text(row.cwd),
    branch: text(row.branch),
    firstAt: time(row.first_at),
    lastAt: time(row.last_at),
    modifiedAt: time(row.changed_at),
    settled: row.settled === 1,
    ended: row.ended === 1,
    sentElsewhere: row.sent_elsewhere === 1,
    sent: Number(row.sent),
    serviceEvents: time(row.service_events),
  };
}
