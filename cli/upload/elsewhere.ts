import { MAX_DIGESTS_AT_ONCE } from '../../contract/digest.ts';
import type { Batch } from '../spool/batches.ts';
import { type AskedSession, createHeldEvents, type HeldEvent, type HeldEvents, readHeld } from './held.ts';
import { readEvents, withEvents } from './refusals.ts';
import type { SessionsOptions } from './sessions.ts';

/** What is known of a session of the service. */
interface Place {
  /** So many of its first events were sent from here or were looked at. */
  upTo: number;
  isRead: boolean;
}

/** What of a batch is not held, and what was found for the rest. */
export interface Rest {
  /** Undefined where all of it is held. */
  batch: Batch | undefined;
  taken: readonly HeldEvent[];
}

/**
 * Events that others have sent of sessions which are sent from here as well: another machine, another state folder, this
 * spool before it was lost. Each is looked for before it is sent.
 */
export function createElsewhere({ spool, service, retry }: Pick<SessionsOptions, 'spool' | 'service' | 'retry'>) {
  const sessions = new Map<number, { events: HeldEvents; places: Map<string, Place> }>();

  /** What is to be asked for to know all that the service has of a session, apart from what is known to be sent from here. */
  function unreadPlaces(id: number): AskedSession[] {
    const { events: held, places } = sessions.get(id) ?? {
      events: createHeldEvents(),
      places: new Map<string, Place>(),
    };
    sessions.set(id, { events: held, places });
    const { serviceId, serviceEvents = 0 } = spool.sessions.get(id);
    return [...spool.sessions.serviceIds(id).entries()].flatMap(([place, sessionId]) => {
      const { upTo, isRead } = places.get(sessionId) ?? { upTo: 0, isRead: false };
      const atLeast = sessionId === serviceId ? serviceEvents : 0;
      return isRead ? [] : [{ sessionId, place, held, from: upTo + 1, atLeast }];
    });
  }

  /**
   * Asks for all that the service has of a session, where it is not known yet; in the same request for that of `others` which
   * will be asked for soon, as far as one answer has room.
   */
  async function find(id: number, others: readonly number[] = []): Promise<void> {
    const asked = new Map([[id, unreadPlaces(id)]]);
    if (asked.get(id)?.length === 0) return;
    let events = 0;
    for (const other of others) {
      const { heldElsewhere, state, serviceEvents = 0 } = spool.sessions.get(other);
      events += serviceEvents;
      if (events > MAX_DIGESTS_AT_ONCE) break;
      if (heldElsewhere && state === 'open') asked.set(other, unreadPlaces(other));
    }
    const counts = await readHeld(service, retry.attempt, [...asked.values()].flat());
    for (const [one, places] of asked) {
      for (const { sessionId, from = 1 } of places) noteRead(one, sessionId, counts.get(sessionId) ?? from - 1);
    }
  }

  function noteRead(id: number, sessionId: string, count: number): void {
    sessions.get(id)?.places.set(sessionId, { upTo: count, isRead: true });
    const { serviceId, serviceEvents = 0 } = spool.sessions.get(id);
    // What came meanwhile was looked at, too.
    if (sessionId === serviceId && count > serviceEvents) spool.sessions.setServiceEvents(id, count);
  }

  /** Takes what is held out of a batch. Of a batch that stays in the spool it must be given back. */
  function take(batch: Batch): Rest {
    const held = sessions.get(batch.session)?.events;
    const taken: HeldEvent[] = [];
    if (held === undefined) return { batch, taken };
    const left = readEvents(batch).filter((event) => {
      const found = held.takeEvent(event);
      if (found) taken.push(found);
      return found === undefined;
    });
    if (taken.length === 0) return { batch, taken };
    const rest = left.length === 0 ? undefined : { ...withEvents(batch, left), key: `${batch.key}.${left.length}` };
    return { batch: rest, taken };
  }

  function giveBack({ taken }: Rest): void {
    for (const event of taken) event.isTaken = false;
  }

  return {
    find,
    take,
    giveBack,
    /** Others have sent more of it than is known here, or may have: what that is will be asked for. `count`: events it has. */
    suspect(id: number, count = Number.POSITIVE_INFINITY): void {
      const { heldElsewhere, serviceId, serviceEvents } = spool.sessions.get(id);
      if (serviceId === undefined || serviceEvents === undefined) return;
      if (!heldElsewhere) {
        const places = spool.sessions
          .serviceIds(id)
          .map((one) => [one, { upTo: serviceEvents, isRead: true }] as const);
        sessions.set(id, { events: createHeldEvents(), places: new Map(places) });
      }
      const place = sessions.get(id)?.places.get(serviceId);
      // Fewer than were sent, where the service was restored from a copy.
      if (place) Object.assign(place, { upTo: Math.min(place.upTo, count), isRead: false });
      spool.sessions.setHeldElsewhere(id, true);
    },
    /** The service's session has so many events, the last of which were sent from here. */
    accept(id: number, serviceId: string, count: number): void {
      const place = sessions.get(id)?.places.get(serviceId);
      if (place) place.upTo = Math.max(place.upTo, count);
    },
    /** Whether the service holds all that waits of a session; then it is found no second time. */
    async hasAll(id: number, batches: readonly Batch[]): Promise<boolean> {
      await find(id);
      const rests = batches.map(take);
      const isAll = rests.every(({ batch }) => batch === undefined);
      if (!isAll) for (const rest of rests) giveBack(rest);
      return isAll;
    },
    /** Whatever is known of it is asked for again. */
    forget: (id: number): void => void sessions.delete(id),
    /** Once all that others have sent was met here, what comes is new. */
    forgetMet(ids: readonly number[]): void {
      for (const id of ids) {
        const found = sessions.get(id);
        if (!found || !spool.sessions.get(id).settled || !spool.batches.ofSession(id).next().done) continue;
        // Who has sent it was faster; here it is still to be read.
        if (found.events.isExpecting()) continue;
        sessions.delete(id);
        spool.sessions.setHeldElsewhere(id, false);
      }
    },
  };
}
