import { ServiceError } from '../../contract/client.ts';
import { isStricter, strictestOf, type Visibility } from '../../contract/session.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Spool } from '../spool/open.ts';
import type { OpenedSession, SessionRow } from '../spool/sessions.ts';
import { explainRefusal, hasStatus, isTemporary } from './problem.ts';
import type { Retry } from './retry.ts';
import type { Service } from './service.ts';

/** The service could not hide a session. The sender retries soon, because until then people see more than they should. */
export class NotHiddenYet extends Failure {
  constructor(sessionId: string, cause: Error) {
    super(
      EXIT.temporary,
      `The service could not make ${sessionId} visible to fewer people: ${cause.message.replace(/\.*$/, '.')}`,
      'This is retried within minutes. Until then, nothing more of this session is sent. Other sessions continue.',
      cause,
    );
  }
}

/** A person has thrown part of the request away, or lets fewer people see it. */
export class Withdrawn extends Error {}

/** After this many errors in a row, the session is not tried for a while. */
const MAX_ERRORS = 3;

const isServerError = (error: unknown): error is ServiceError => error instanceof ServiceError && error.status >= 500;

export interface RestrictionOptions {
  spool: Spool;
  service: Service;
  retry: Retry;
  /** Who may see a session. A new session also follows the machine's setting. Throws a `Failure` if that cannot be known. */
  visibilityOf: (session: SessionRow, about: { isNew: boolean }) => Visibility;
}

/**
 * Makes the service hide each session from everybody who should not see it, including the events sent before. It never shows
 * a session to more people: a person does that in the dashboard.
 */
export function createRestriction({ spool, service, retry, visibilityOf }: RestrictionOptions) {
  /**
   * Runs before events of the session are sent. `partly`: an earlier part is gone or belongs to another person, so it was not
   * hidden. `again`: the service has no such session of ours, so it must be looked up by its key; this is not returned if it
   * just was.
   */
  async function restrict(
    id: number,
    { isAsked }: { isAsked: boolean },
  ): Promise<Failure | 'done' | 'partly' | 'again'> {
    const row = spool.sessions.get(id);
    try {
      const { earlier, present } = dividedBy(row);
      const wanted = visibilityOf(row, { isNew: false });
      const isAll = await restrictEarlier(earlier, wanted);
      const isOurs = await restrictAll(present, wanted);
      if (isOurs) return isAll ? 'done' : 'partly';
      return isAsked ? shownToMore(row) : 'again';
    } catch (error) {
      if (error instanceof Failure) return error;
      throw explainRefusal(error);
    }
  }

  /** Splits the service's sessions into those that accept no more events and the one that does. */
  function dividedBy({ id, state, serviceId }: SessionRow) {
    const isPresent = (one: OpenedSession) => state === 'open' && one.serviceId === serviceId;
    const { present = [], earlier = [] } = Object.groupBy(spool.sessions.openedAs(id), (one) =>
      isPresent(one) ? 'present' : 'earlier',
    );
    return { present, earlier };
  }

  /**
   * An earlier session that is gone, or belongs to another person, accepts no more events from here and is not asked for
   * again.
   * @returns false if there is one
   */
  async function restrictEarlier(earlier: readonly OpenedSession[], wanted: Visibility): Promise<boolean> {
    let isAll = true;
    for (const one of earlier) {
      if (await restrictAll([one], wanted)) continue;
      spool.sessions.setVisibility(one.serviceId, strictestOf(wanted, one.wanted));
      isAll = false;
    }
    return isAll;
  }

  /** False if one of them is gone or belongs to another person. */
  async function restrictAll(sessions: readonly OpenedSession[], wanted: Visibility): Promise<boolean> {
    let areOurs = true;
    for (const { serviceId, visibility: before, wanted: atOpening } of sessions) {
      const strictest = strictestOf(wanted, atOpening);
      if (!isStricter(strictest, before)) continue;
      const visibility = await ask(serviceId, strictest);
      areOurs &&= visibility !== undefined && !isStricter(strictest, visibility);
      if (visibility !== undefined) spool.sessions.setVisibility(serviceId, visibility);
    }
    return areOurs;
  }

  /** If the service accepts other requests but not this one, only this session waits. */
  async function ask(sessionId: string, visibility: Visibility): Promise<Visibility | undefined> {
    let errors = 0;
    const mustRepeat = (error: unknown) => isTemporary(error) && !(isServerError(error) && ++errors === MAX_ERRORS);
    try {
      const request = () => service.client.restrictSession({ sessionId, body: { visibility } });
      return (await retry.attempt(request, mustRepeat)).body.visibility;
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw isServerError(error) ? new NotHiddenYet(sessionId, error) : error;
    }
  }

  /** Who may see a session, by default one that is to be opened; or why that is not known. */
  function wantedOf(session: SessionRow, about = { isNew: true }): Visibility | Failure {
    try {
      return visibilityOf(session, about);
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
  }

  /**
   * Call it immediately before a request that reveals a session. `asked` is the visibility that a request to open it asks for.
   * Otherwise, the visibility at the service counts.
   * @throws Withdrawn if the session has nothing to send any more, or if a person has hidden it while the request waited
   */
  function checkRequest(id: number, asked?: Visibility): void {
    const row = spool.sessions.get(id);
    const wanted = wantedOf(row, { isNew: asked !== undefined });
    // Finding out who may see the session may also show that its folder keeps it back now.
    if (wanted instanceof Failure || !spool.batches.isWaiting(id)) throw new Withdrawn();
    const isShownToMore =
      asked === undefined
        ? dividedBy(row).present.some((one) => isStricter(strictestOf(wanted, one.wanted), one.visibility))
        : isStricter(wanted, asked);
    if (isShownToMore) throw new Withdrawn();
  }

  return { restrict, wantedOf, checkRequest };
}

/**
 * The service has events under this session's key, so people would read the next ones although this machine wants to hide
 * them.
 */
const shownToMore = ({ agent, agentSession }: SessionRow) =>
  new Failure(
    EXIT.failure,
    `The service does not let this machine hide session ${agentSession} of ${agent}, because somebody else captured it.`,
    'Its events stay here. Sign in with `capture login` as the person who captured it, or leave it out with `capture skip`.',
  );
