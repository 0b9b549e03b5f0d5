import type { AgentId } from '../../contract/agent.ts';
import { type CapturedSession, type CaptureResult, MAX_SESSIONS_AT_ONCE } from '../../contract/capture.ts';
import { chainStart } from '../../contract/chain.ts';
import { ServiceError } from '../../contract/client.ts';
import { isStricter, type Visibility } from '../../contract/session.ts';
import type { CapturedEvent } from '../../contract/transcript.ts';
import { EXIT, Failure } from '../failure.ts';
import { factsOf, mergeFacts } from '../read/facts.ts';
import type { Repository } from '../repository.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';
import type { createKeyOf } from './client-key.ts';
import { Blocked, explainRefusal, hasStatus, tellBlocked } from './problem.ts';
import { readEvents, withEvents } from './refusals.ts';
import { AgentDisabled, type Registration } from './registration.ts';
import { createRestriction, type RestrictionOptions } from './restriction.ts';

export interface SessionsOptions extends RestrictionOptions {
  registration: Registration;
  now: () => number;
  /** How long a session is left alone that the service does not take; milliseconds. */
  heldMs: number;
  /** The repository that a folder belongs to. Of a folder that is kept back nobody is told anything. */
  findRepository: (folder: string) => Pick<Repository, 'root' | 'remote'> | 'kept back' | undefined;
  keyOf: ReturnType<typeof createKeyOf>;
}

/** Whether the service holds all that waits of a session, which then waits no more: no other session is opened for it. */
export type IsAllHeld = (id: number) => Promise<boolean>;

/** Sessions of the service that an agent's session was found in, one after another. */
const MOST_GENERATIONS = 1000;

/** Opens and completes sessions at the service, many in a request. */
export function createServiceSessions(options: SessionsOptions, isAllHeld: IsAllHeld) {
  const { spool, service, retry, registration, now, findRepository, keyOf } = options;

  const restriction = createRestriction(options);

  /** Has each session open at the service, as far as it will: the spool tells what became of each. Returns what was refused. */
  async function open(ids: readonly number[]): Promise<Map<number, Failure>> {
    const refused = new Map<number, Failure>();
    /** Those that were asked for by their keys now. */
    const asked = new Set<number>();
    for (let generation = 0; generation < MOST_GENERATIONS; generation++) {
      const left = await findUnopened(ids, refused);
      if (left.length === 0) {
        if (await restrictAll(ids, asked, refused)) continue;
        break;
      }
      for (const { id } of left) asked.add(id);
      const results = await openAtService(left).catch((error: unknown) => {
        if (!(error instanceof AgentDisabled)) throw error;
      });
      // Disabled just now: registering again tells each session whether its agent is meant.
      if (results === undefined) continue;
      // Not in the commit of what follows: looking into folders may make one of its own.
      const wanted = left.map(wantedNow);
      spool.transact(() => {
        for (const [index, session] of left.entries()) {
          const result = results[index] as CaptureResult;
          if (result.outcome === 'refused') refused.set(session.id, toRefusal(session, result));
          else takeOutcome(session, result, wanted[index] as Visibility);
        }
      });
    }
    return refused;
  }

  /** True where one of them is to be asked for once more. */
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

  /** Those that have no session at the service yet which takes their events, and something that it does not hold. */
  async function findUnopened(ids: readonly number[], refused: Map<number, Failure>): Promise<SessionRow[]> {
    const left: SessionRow[] = [];
    for (const session of ids.map((id) => spool.sessions.get(id))) {
      const isClosed = session.state === 'closed';
      if (refused.has(session.id) || !(isClosed || session.state === 'new')) continue;
      if (isClosed && session.heldElsewhere && (await isAllHeld(session.id))) continue;
      try {
        await register(session);
      } catch (error) {
        if (!(error instanceof AgentDisabled)) throw error;
        refused.set(session.id, error);
        continue;
      }
      // Of one that nobody knows who may see, nothing is told.
      const wanted = restriction.wantedOf(session);
      if (wanted instanceof Failure) refused.set(session.id, wanted);
      else left.push(session);
    }
    return left;
  }

  const register = (session: SessionRow): Promise<string> =>
    registration.installation(session.agent as AgentId, session.agentVersion, toPlausible(startOf(session)));

  /** Where nobody can tell, all of it is tried again, and the session waits until somebody can. */
  function wantedNow(session: SessionRow): Visibility {
    const wanted = restriction.wantedOf(session);
    if (wanted instanceof Failure) throw new ThrownAway();
    return wanted;
  }

  /** Notes the session as the service knows it. */
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
    // Its events came from another machine, or from this spool before it was lost: any record may be among them.
    if (outcome === 'found' && session.eventCount > 0) spool.sessions.setHeldElsewhere(id, true);
    spool.sessions.setOpen(id, session.sessionId, session.eventCount);
    // Of what others sent, this machine knows nothing.
    if (session.eventCount === 0) spool.chains.begin(session.sessionId, chainStart(row.agent, result.clientKey));
    spool.sessions.setWanted(session.sessionId, session.visibility ?? 'team', wanted);
    // Its next events go to another one.
    if (session.status !== 'active') spool.sessions.close(id);
    else if (outcome === 'opened') {
      spool.count('sessionsOpened');
      if (generation > 0) spool.count('sessionsContinued');
    }
  }

  /** Later events continue it in another session. The expired ones must not return. */
  function takeExpiry({ id, sent, heldElsewhere, serviceEvents }: SessionRow, result: CaptureResult): void {
    const { eventCount, lastEventAt = '' } = result;
    const told = Date.parse(lastEventAt);
    // An answer without a time may be about anything that was written until now.
    const until = Number.isNaN(told) ? now() : told;
    // If only this machine sent to a session, its waiting events were never there.
    const isOwn = sent > 0 && !heldElsewhere && serviceEvents === eventCount;
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
      // It may have been lost with the service's data, or the machine was revoked: registering tells.
      registration.forget();
      await askAgain(needsRegistration, describeSession);
    }
    // Better without its title than not at all.
    await askAgain(['validation_failed'], undescribed);
    return results;
  }

  async function request(sessions: readonly SessionRow[], describeEach: Describe): Promise<CaptureResult[]> {
    if (sessions.length === 0) return [];
    const bodies: CapturedSession[] = [];
    for (const session of sessions.map(toPart)) bodies.push({ ...(await toBody(session)), ...describeEach(session) });
    try {
      const ask = async () => {
        // A person may have kept one of them back, or hidden it, while the service was waited for.
        if (sessions.some(({ id }) => spool.sessions.get(id).verdict !== 'wanted')) throw new ThrownAway();
        if (sessions.some((one, index) => isStricter(wantedNow(one), bodies[index]?.visibility ?? 'team')))
          throw new ThrownAway();
        return service.client.captureSessions({ body: { sessions: bodies } });
      };
      // A proxy that refuses a session without its description refuses everything.
      const askDescribed = () => ask().catch((error) => Promise.reject(tellBlocked(error)));
      return (await retry.attempt(describeEach === undescribed ? ask : askDescribed)).body.results;
    } catch (error) {
      if (!hasStatus(error, 400) && !(error instanceof Blocked)) throw explainRefusal(error);
      const [{ clientKey }, ...others] = bodies as [CapturedSession, ...CapturedSession[]];
      if (others.length === 0) {
        const code = (error instanceof ServiceError && error.code) || 'validation_failed';
        return [{ clientKey, outcome: 'refused', code, error: error.message }];
      }
      // One invalid session makes the service refuse all of them, so each is sent by itself.
      const answers: CaptureResult[] = [];
      for (const session of sessions) answers.push(...(await request([session], describeEach)));
      return answers;
    }
  }

  async function toBody(session: SessionRow): Promise<CapturedSession> {
    const { agent, agentSession, generation, forkedFrom } = session;
    const environmentId = await registration.environment();
    const agentInstallationId = await register(session);
    const visibility = wantedNow(session);
    return {
      ...{ environmentId, agentInstallationId, agentId: agent },
      clientKey: keyOf(agent, agentSession, generation),
      startedAt: new Date(toPlausible(startOf(session))).toISOString(),
      ...(visibility !== 'team' && { visibility }),
      ...(generation > 0 && { continues: keyOf(agent, agentSession, generation - 1) }),
      ...(forkedFrom !== undefined && { forkedFrom: keyOf(agent, forkedFrom) }),
    };
  }

  /** Until an event tells a time, the files do: the first one in them, or when they were made. */
  const startOf = ({ agent, agentSession, firstAt }: SessionRow): number =>
    firstAt ?? Math.min(now(), ...spool.files.ofSession(agent, agentSession).map(({ startedAt }) => startedAt));

  /** What continues a session has the title and the beginning of its own first events. */
  function toPart(session: SessionRow): SessionRow {
    const batch = session.generation > 0 ? spool.batches.ofSession(session.id).next().value : undefined;
    if (batch === undefined) return session;
    const events = readEvents(batch).map((event) => JSON.parse(event) as CapturedEvent);
    const { title, prompt, firstAt } = events.map(factsOf).reduce(mergeFacts, {});
    const name = title ?? prompt;
    return { ...session, ...(name !== undefined && { title: name }), ...(firstAt !== undefined && { firstAt }) };
  }

  /** A time that an agent wrote may be any; the service takes what can be. */
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
    // Whatever is answered for one of them, such as that it was closed before, is not worth stopping for.
    await retry.attempt(() => service.client.completeSessions({ body: { sessions } }));
    spool.transact(() => {
      for (const { id } of rows) spool.sessions.close(id);
    });
  }

  /** Has people see no more of sessions than a person has said since; nothing of them waits to be sent. */
  async function hide(ids: readonly number[]): Promise<Map<number, Failure>> {
    const refused = new Map<number, Failure>();
    await restrictAll(ids, new Set(), refused);
    return refused;
  }

  return { open, complete, hide, isShownToMore: restriction.isShownToMore };
}

/** Removes the waiting events of a session that were written until a time. One that tells no time is as old as the one before it. */
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

/** Of what is about to be sent, a person has thrown something away, or lets fewer people see it. */
export class ThrownAway extends Error {}

/** The parts of a session's description that its events repeat. */
type Describe = (session: SessionRow) => object;
const undescribed: Describe = () => ({});

/** No agent wrote before it. */
const EARLIEST = Date.UTC(2000);

function toRefusal({ agent, agentSession }: SessionRow, { error, code }: CaptureResult): Failure {
  return new Failure(
    EXIT.failure,
    `The service refuses session ${agentSession} of ${agent}: ${error ?? code}`,
    'Its events stay in the spool. A newer version of capture or of the service may help.',
  );
}
