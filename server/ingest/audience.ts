import type { SessionKey } from '../log/decide.ts';
import { Recent } from '../recent.ts';
import type { Audience } from '../store/viewer.ts';

export interface Audiences {
  /** Calls back with the audience of a session, in the order of the calls; never if the session has no audience. */
  ask(place: SessionKey, notify: (audience: Audience) => void): void;
  /** Invalidates the cached audience after a change. */
  forget(sessionId: string): void;
}

/** How long a process may use an outdated audience if it misses the notice of a change. */
const VALID_MS = 500;
const MAX_REMEMBERED = 10_000;

/**
 * Caches who may know of the sessions that change, so that an append needs no lookup.
 * @param find looks up an audience; undefined if there is no such session
 * @param onFailed called if the lookup fails; then nobody is notified
 */
export function createAudiences(
  find: (place: SessionKey) => Promise<Audience | undefined>,
  onFailed: (error: unknown, place: SessionKey) => void,
  now: () => number,
): Audiences {
  const known = new Recent<Audience>({ max: MAX_REMEMBERED, now });
  /** The callbacks that wait for a lookup. A lookup that may have read an outdated audience is repeated. */
  const waiting = new Map<string, ((audience: Audience) => void)[]>();
  const outdated = new Set<string>();

  async function lookUp(place: SessionKey): Promise<void> {
    const { sessionId } = place;
    let audience: Audience | undefined;
    do {
      outdated.delete(sessionId);
      // The audience of a deleted session is the last known one.
      audience = (await find(place)) ?? known.last(sessionId);
    } while (outdated.has(sessionId));
    const callbacks = waiting.get(sessionId) ?? [];
    waiting.delete(sessionId);
    if (!audience) return;
    known.set(sessionId, audience, VALID_MS);
    for (const notify of callbacks) notify(audience);
  }

  return {
    ask(place, notify) {
      const { sessionId } = place;
      const callbacks = waiting.get(sessionId);
      if (callbacks) {
        callbacks.push(notify);
        return;
      }
      const audience = known.get(sessionId);
      if (audience) {
        notify(audience);
        return;
      }
      waiting.set(sessionId, [notify]);
      lookUp(place).catch((error) => {
        waiting.delete(sessionId);
        onFailed(error, place);
      });
    },
    forget(sessionId) {
      known.delete(sessionId);
      if (waiting.has(sessionId)) outdated.add(sessionId);
    },
  };
}
