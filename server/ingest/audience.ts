import type { SessionKey } from '../log/decide.ts';
import type { Audience } from '../store/viewer.ts';

export interface Audiences {
  /** Calls back with who may know of a session, in the order of the calls; never where nobody may. */
  ask(place: SessionKey, told: (audience: Audience) => void): void;
  /** It has changed: what was learnt before counts no more. */
  forget(sessionId: string): void;
}

/** The longest that a process goes on telling those who may not know of a session any more, if it hears of no change. */
const BELIEVED_MS = 500;
const MOST_REMEMBERED = 10_000;

interface Known {
  audience: Audience;
  until: number;
}

/**
 * Remembers who may know of the sessions that change, so that an append costs no look-up.
 * @param find looks it up; undefined where there is no such session
 * @param onFailed called where that is not known now: nobody is told
 */
export function createAudiences(
  find: (place: SessionKey) => Promise<Audience | undefined>,
  onFailed: (error: unknown, place: SessionKey) => void,
  now: () => number,
): Audiences {
  const known = new Map<string, Known>();
  /** Those who wait for a look-up; a new one begins where what it finds may be outdated. */
  const waiting = new Map<string, ((audience: Audience) => void)[]>();
  const outdated = new Set<string>();

  async function lookUp(place: SessionKey): Promise<void> {
    const { sessionId } = place;
    let audience: Audience | undefined;
    do {
      outdated.delete(sessionId);
      // Of a session that is gone, what was known last.
      audience = (await find(place)) ?? known.get(sessionId)?.audience;
    } while (outdated.has(sessionId));
    const asked = waiting.get(sessionId) ?? [];
    waiting.delete(sessionId);
    if (!audience) return;
    remember(sessionId, audience);
    for (const told of asked) told(audience);
  }

  function remember(sessionId: string, audience: Audience): void {
    known.delete(sessionId);
    known.set(sessionId, { audience, until: now() + BELIEVED_MS });
    for (const oldest of known.keys()) {
      if (known.size <= MOST_REMEMBERED) break;
      known.delete(oldest);
    }
  }

  return {
    ask(place, told) {
      const { sessionId } = place;
      const asked = waiting.get(sessionId);
      if (asked) {
        asked.push(told);
        return;
      }
      const one = known.get(sessionId);
      if (one && one.until > now()) {
        told(one.audience);
        return;
      }
      waiting.set(sessionId, [told]);
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
