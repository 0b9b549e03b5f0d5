import type { AgentId } from '../../contract/agent.ts';
import { type CapturedSession, type CaptureResult, MAX_SESSIONS_AT_ONCE } from '../../contract/capture.ts';
import { chainStart } from '../../contract/chain.ts';
import { ServiceError } from '../../contract/client.ts';
import type { Visibility } from '../../contract/session.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import { EXIT, Failure } from '../failure.ts';
import { factsOf, mergeFacts } from '../read/facts.ts';
import type { Repository } from '../repository.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';
import type { createKeyOf } from './client-key.ts';
import { Blocked, explainRefusal, hasStatus, tellBlocked } from './problem.ts';
import { readEvents, withEvents } from './refusals.ts';
import { AgentDisabled, type Registration } from './registration.ts';
import { createRestriction, type RestrictionOptions, Withdrawn } from './restriction.ts';

export interface SessionsOptions extends RestrictionOptions {
  registration: Registration;
  now: () => number;
  /** How long a session is deferred that the service does not accept; milliseconds. */
  deferMs: number;
  /** The repository that a folder belongs to. A folder that is kept back is never named to the service. */
  findRepository: (folder: string) => Pick<Repository, 'root' | 'remote'> | 'kept back' | undefined;
  keyOf: ReturnType<typeof createKeyOf>;
}

/**
 * Whether the service already has all waiting events of a session. If so, they stop waiting, and no other session is opened
 * for them.
 */
export type IsAllKnown = (id: number) => Promise<boolean>;

/** The most sessions of the service that one agent session is continued in. */
const MAX_GENERATIONS = 1000;

/** Opens and completes sessions at the service, many per request. */
export function createServiceSessions(options: SessionsOptions, isAllKnown: IsAllKnown) {
  const { spool, service, retry, registration, now, findRepository, keyOf } = options;

  const restriction = createRestriction(options);

  /** Opens each session at the service, as far as the service allows. The spool stores the results. Returns the refusals. */
  async function open(ids: readonly number[]): Promise<Map<number, Failure>> {
    const refused = new Map<number, Failure>();
    /** The sessions that this call has asked for by their keys. */
    const asked = new Set<number>();
    for (let generation = 0; generation < MAX_GENERATIONS; generation++) {
      const left = await findUnopened(ids, refused);
      if (left.length === 0) {
        if (await restrictAll(ids, asked, refused)) continue;
        break;
      }
      for (const { id } of left) asked.add(id);
      const results = await openAtService(left).catch((error: unknown) => {
        if (!(error instanceof AgentDisabled)) throw error;
      });
      // The agent was disabled just now. Registering again shows which sessions that affects.
      if (results === undefined) continue;
      // This is outside of the next commit, because looking into folders may make a commit of its own.
      const wanted = left.map(wantedNow);
      spool.transact(() => {
        for (const [index, session] of left.entries()) {
          const result = results[index] as CaptureResult;
          const isStillForeign = result.outcome === 'foreign' && session.ownFrom !== undefined;
          if (result.outcome === 'refused' || isStillForeign) refused.set(session.id, toRefusal(session, result));
          else if (result.outcome === 'foreign') spool.sessions.setOwn(session.id);
          else takeOutcome(session, result, wanted[index] as Visibility);
        }
      });
    }
    return refused;
  }

  /** Returns true if a session must be asked for once more. */
  async function restrictAll(ids: readonly number[], asked: ReadonlySet<number>, refused: Map<number, Failure>) {
    let isLeft = false;
    for (const id of ids.filter((one) => !refused.has(one))) {
      const answer = await restriction.restrict(id, { isAsked: asked.has(id) });
      if (answer instanceof Failure) refused.set(id, answer);
      if (answer !== 'again') continue;
      spool.sessions.reset(id);
      isLeft = true;
    }
    return isLeft;
  }

  /** The sessions with events that the service does not have, and without a session at the service that accepts them. */
  async function findUnopened(ids: readonly number[], refused: Map<number, Failure>): Promise<SessionRow[]> {
    const left: SessionRow[] = [];
    for (const session of ids.map((id) => spool.sessions.get(id))) {
      const isClosed = session.state === 'closed';
      if (refused.has(session.id) || !(isClosed || session.state === 'new')) continue;
      if (isClosed && session.sentElsewhere && (await isAllKnown(session.id))) continue;
      try {
        await register(session);
      } catch (error) {
        if (!(error instanceof AgentDisabled)) throw error;
        refused.set(session.id, error);
        continue;
      }
      // While nobody knows who may see a session, the service is not told about it.
      const wanted = restriction.wantedOf(session);
      if (wanted instanceof Failure) refused.set(session.id, wanted);
      else left.push(session);
    }
    return left;
  }

  const register = (session: SessionRow): Promise<string> =>
    registration.installation(session.agent as AgentId, session.agentVersion, toPlausible(startOf(session)));

  /** If the visibility is unknown, the session waits and is tried again until it is known. */
  function wantedNow(session: SessionRow): Visibility {
    const wanted = restriction.wantedOf(session);
    if (wanted instanceof Failure) throw new Withdrawn();
    return wanted;
  }

  /** Stores the state of the session according to the service. */
  function takeOutcome(row: SessionRow, result: CaptureResult, wanted: Visibility): void {
    const { id, generation } = row;
    const { outcome, session } = result;
    if (outcome === 'expired') {
      takeExpiry(row, result);
      return;
    }
    if (outcome === 'deleted' || session === undefined) {
      spool.keepBack(id, 'deleted', now());
      return;
    }
    // The events came from another machine, or from this spool before it was lost. They may be of any record.
    if (outcome === 'found' && session.eventCount > 0) spool.sessions.setSentElsewhere(id, true);
    spool.sessions.setOpen(id, session.sessionId, session.eventCount);
    // The service gives no key for events that others sent, so this machine knows no chain for them.
    const { chainKey, clientKey } = result;
    if (chainKey !== undefined) spool.chains.begin(session.sessionId, chainStart(row.agent, clientKey), chainKey);
    spool.sessions.setWanted(session.sessionId, session.visibility ?? 'team', wanted);
    // The session's next events go to another session of the service.
    if (session.status !== 'active') spool.sessions.close(id);
    else if (outcome === 'opened') {
      spool.count('sessionsOpened');
      if (generation > 0) spool.count('sessionsContinued');
    }
  }

  /** Later events continue the session in another one. The expired events must not return. */
  function takeExpiry({ id, sent, sentElsewhere, serviceEvents }: SessionRow, result: CaptureResult): void {
    const { eventCount, lastEventAt = '' } = result;
    const lastWritten = Date.parse(lastEventAt);
    // An answer without a time may refer to anything written until now.
    const until = Number.isNaN(lastWritten) ? now() : lastWritten;
    // If only this machine sent to the session, the service never had its waiting events.
    const isOwn = sent > 0 && !sentElsewhere && serviceEvents === eventCount;
    if (!isOwn) removeWrittenUntil(spool.batches, id, until);
    spool.sessions.expire(id, until);
    spool.sessions.close(id);
  }

  async function openAtService(sessions: readonly SessionRow[]): Promise<CaptureResult[]> {
    let results = await request(sessions, describeSession);

    async function askAgain(codes: readonly string[], describeEach: Describe): Promise<void> {
      const isMeant = ({ code = '' }: CaptureResult) => codes.includes(code);
      const refused = sessions.filter((_, index) => isMeant(results[index] as CaptureResult));
      const answers = (await request(refused, describeEach)).values();
      results = results.map((result) => (isMeant(result) ? (answers.next().value ?? result) : result));
    }

    const needsRegistration = ['environment_unusable', 'installation_unusable'];
    if (results.some(({ code = '' }) => needsRegistration.includes(code))) {
      // The service may have lost the machine with its data, or the machine was revoked. Registering shows which.
      registration.forget();
      await askAgain(needsRegistration, describeSession);
    }
    // A session without its title is better than none.
    await askAgain(['validation_failed'], undescribed);
    return results;
  }

  async function request(sessions: readonly SessionRow[], describeEach: Describe): Promise<CaptureResult[]> {
    if (sessions.length === 0) return [];
    const bodies: CapturedSession[] = [];
    for (const session of sessions.map(toPart)) bodies.push({ ...(await toBody(session)), ...describeEach(session) });
    try {
      const ask = async () => {
        for (const [index, { id }] of sessions.entries()) {
          restriction.checkRequest(id, bodies[index]?.visibility ?? 'team');
        }
        return service.client.captureSessions({ body: { sessions: bodies } });
      };
      // A proxy that also refuses a session without its description refuses everything.
      const askDescribed = () => ask().catch((error) => Promise.reject(tellBlocked(error)));
      return (await retry.attempt(describeEach === undescribed ? ask : askDescribed)).body.results;
    } catch (error) {
      if (!hasStatus(error, 400) && !(error instanceof Blocked)) throw explainRefusal(error);
      const [{ clientKey }, ...others] = bodies as [CapturedSession, ...CapturedSession[]];
      if (others.length === 0) {
        const code = (error instanceof ServiceError && error.code) || 'validation_failed';
        return [{ clientKey, outcome: 'refused', code, error: error.message }];
      }
      // One invalid session makes the service refuse the whole request, so each one is sent by itself.
      const answers: CaptureResult[] = [];
      for (const session of sessions) answers.push(...(await request([session], describeEach)));
      return answers;
    }
  }

  async function toBody(session: SessionRow): Promise<CapturedSession> {
    const { agent, agentSession, generation, forkedFrom, ownFrom } = session;
    const environmentId = await registration.environment();
    const agentInstallationId = await register(session);
    const visibility = wantedNow(session);
    const shared = { agent, agentSession };
    // A fork names its origin; a session that somebody else captures is one, too.
    const origin = forkedFrom === undefined ? ownFrom === 0 && shared : { agent, agentSession: forkedFrom };
    return {
      ...{ environmentId, agentInstallationId, agentId: agent },
      clientKey: keyOf(session, generation),
      startedAt: new Date(toPlausible(startOf(session))).toISOString(),
      ...(visibility !== 'team' && { visibility }),
      ...(generation > 0 && { continues: keyOf(session, generation - 1) }),
      ...(origin && { forkedFrom: keyOf(origin) }),
    };
  }

  /** Before any event has a time, the files give one: the first time in them, or when they were made. */
  const startOf = ({ agent, agentSession, firstAt }: SessionRow): number =>
    firstAt ?? Math.min(now(), ...spool.files.ofSession(agent, agentSession).map(({ startedAt }) => startedAt));

  /** A continuing session gets the title and the beginning of its own first events. */
  function toPart(session: SessionRow): SessionRow {
    const batch = session.generation > 0 ? spool.batches.ofSession(session.id).next().value : undefined;
    if (batch === undefined) return session;
    const events = readEvents(batch).map((event) => JSON.parse(event) as CapturedEvent);
    const { title, prompt, firstAt } = events.map(factsOf).reduce(mergeFacts, {});
    const name = title ?? prompt;
    return { ...session, ...(name !== undefined && { title: name }), ...(firstAt !== undefined && { firstAt }) };
  }

  /** An agent may write any time, but the service accepts only plausible ones. */
  const toPlausible = (time: number) => Math.min(Math.max(time, EARLIEST), now());

  function describeSession({ title, prompt, cwd, branch }: SessionRow) {
    const name = title ?? prompt;
    const repository = cwd === undefined ? undefined : findRepository(cwd);
    if (repository === 'kept back') return {};
    return {
      ...(name !== undefined && { title: name }),
      ...(cwd !== undefined && { repoRoot: repository?.root ?? cwd }),
      ...(repository?.remote !== undefined && { repoRemote: repository.remote }),
      ...(branch !== undefined && { gitBranch: branch }),
    };
  }

  async function complete(ids: readonly number[]): Promise<void> {
    const rows = ids.slice(0, MAX_SESSIONS_AT_ONCE).map((id) => spool.sessions.get(id));
    const sessions = rows.flatMap(({ serviceId: sessionId, lastAt }) =>
      sessionId === undefined
        ? []
        : [{ sessionId, ...(lastAt !== undefined && { endedAt: new Date(toPlausible(lastAt)).toISOString() }) }],
    );
    // An error for one session, such as one that was closed before, is no reason to stop.
    await retry.attempt(() => service.client.completeSessions({ body: { sessions } }));
    spool.transact(() => {
      for (const { id } of rows) spool.sessions.close(id);
    });
  }

  /** Hides sessions as a person has decided since. None of their events wait to be sent. */
  async function hide(ids: readonly number[]): Promise<Map<number, Failure>> {
    const refused = new Map<number, Failure>();
    await restrictAll(ids, new Set(), refused);
    return refused;
  }

  return { open, complete, hide, checkRequest: restriction.checkRequest };
}

/** Removes a session's waiting events that were written until a time. An event without a time is as old as the one before it. */
function removeWrittenUntil(batches: Spool['batches'], session: number, until: number): void {
  let isOld = true;
  for (const batch of batches.ofSession(session)) {
    const events = readEvents(batch);
    const left = events.filter((event) => {
      const { payload } = JSON.parse(event) as { payload: { occurredAt?: unknown } };
      const time = Date.parse(String(payload.occurredAt));
      if (!Number.isNaN(time)) isOld = time <= until;
      return !isOld;
    });
    if (left.length === 0) batches.remove(batch.id);
    else if (left.length < events.length) {
      batches.replace({ ...withEvents(batch, left), key: `${batch.key}.${left.length}` });
    }
  }
}

/** The parts of a session's description that its events repeat. */
type Describe = (session: SessionRow) => object;
const undescribed: Describe = () => ({});

/** No agent wrote anything before this time. */
const EARLIEST = Date.UTC(2000);

function toRefusal({ agent, agentSession }: SessionRow, { error, code }: CaptureResult): Failure {
  return new Failure(
    EXIT.failure,
    `The service refuses session ${agentSession} of ${agent}: ${error ?? code ?? 'another person captures it'}`,
    'Its events stay in the spool. A newer version of capture or of the service may help.',
  );
}
