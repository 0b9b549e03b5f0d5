import { MAX_DIGESTS_AT_ONCE } from '../../contract/digest.ts';
import type { Batch } from '../spool/batches.ts';
import {
  type AskedSession,
  createKnownEvents,
  type KnownEvent,
  type KnownEvents,
  readKnownEvents,
} from './known-events.ts';
import { readEvents, withEvents } from './refusals.ts';
import type { SessionsOptions } from './sessions.ts';

/** The known part of a session of the service. */
interface KnownHistory {
  /** How many of its first events this machine has sent or compared. */
  upTo: number;
  isRead: boolean;
}

/**
 * Events that the service has and this spool did not send. Another machine sent them, another state folder, or this spool
 * before it was lost. The sender compares each event with them before it sends it.
 */
export function createElsewhere({ spool, service, retry }: Pick<SessionsOptions, 'spool' | 'service' | 'retry'>) {
  const sessions = new Map<number, { events: KnownEvents; places: Map<string, KnownHistory> }>();

  /** The parts of a session's history at the service that this process has neither sent nor read. */
  function unreadPlaces(id: number): AskedSession[] {
    const { events: known, places } = sessions.get(id) ?? {
      events: createKnownEvents(),
      places: new Map<string, KnownHistory>(),
    };
    sessions.set(id, { events: known, places });
    const { serviceId, serviceEvents = 0 } = spool.sessions.get(id);
    return [...spool.sessions.serviceIds(id).entries()].flatMap(([place, sessionId]) => {
      const { upTo, isRead } = places.get(sessionId) ?? { upTo: 0, isRead: false };
      const atLeast = sessionId === serviceId ? serviceEvents : 0;
      return isRead ? [] : [{ sessionId, place, known, from: upTo + 1, atLeast }];
    });
  }

  /**
   * Reads the unread parts of a session's history. The same request also reads those of `others`, which are needed soon, as
   * far as one answer has room.
   */
  async function find(id: number, others: readonly number[] = []): Promise<void> {
    const asked = new Map([[id, unreadPlaces(id)]]);
    if (asked.get(id)?.length === 0) return;
    let events = 0;
    for (const other of others) {
      const { sentElsewhere, state, serviceEvents = 0 } = spool.sessions.get(other);
      events += serviceEvents;
      if (events > MAX_DIGESTS_AT_ONCE) break;
      if (sentElsewhere && state === 'open') asked.set(other, unreadPlaces(other));
    }
    const counts = await readKnownEvents(service, retry.attempt, [...asked.values()].flat());
    for (const [one, places] of asked) {
      for (const { sessionId, from = 1 } of places) noteRead(one, sessionId, counts.get(sessionId) ?? from - 1);
    }
  }

  function noteRead(id: number, sessionId: string, count: number): void {
    sessions.get(id)?.places.set(sessionId, { upTo: count, isRead: true });
    const { serviceId, serviceEvents = 0 } = spool.sessions.get(id);
    // The read includes events that arrived meanwhile.
    if (sessionId === serviceId && count > serviceEvents) spool.sessions.setServiceEvents(id, count);
  }

  /**
   * Removes known events from a batch. `rest` is undefined if the service has all of it. If the batch stays in the spool,
   * `giveBack` must return the taken events.
   */
  function removeKnown(batch: Batch): { rest: Batch | undefined; taken: readonly KnownEvent[] } {
    const known = sessions.get(batch.session)?.events;
    const taken: KnownEvent[] = [];
    if (known === undefined) return { rest: batch, taken };
    const left = readEvents(batch).filter((event) => {
      const found = known.takeEvent(event);
      if (found) taken.push(found);
      return found === undefined;
    });
    if (taken.length === 0) return { rest: batch, taken };
    if (left.length === 0) return { rest: undefined, taken };
    return { rest: { ...withEvents(batch, left), key: `${batch.key}.${left.length}` }, taken };
  }

  function giveBack(taken: readonly KnownEvent[]): void {
    for (const event of taken) event.isTaken = false;
  }

  return {
    find,
    removeKnown,
    giveBack,
    /** Other machines have sent more of the session, or may have, so it is read again. `count`: its number of events. */
    suspect(id: number, count = Number.POSITIVE_INFINITY): void {
      const { sentElsewhere, serviceId, serviceEvents } = spool.sessions.get(id);
      if (serviceId === undefined || serviceEvents === undefined) return;
      if (!sentElsewhere) {
        const places = spool.sessions
          .serviceIds(id)
          .map((one) => [one, { upTo: serviceEvents, isRead: true }] as const);
        sessions.set(id, { events: createKnownEvents(), places: new Map(places) });
      }
      const place = sessions.get(id)?.places.get(serviceId);
      // The service may have fewer events than were sent if it was restored from a copy.
      if (place) Object.assign(place, { upTo: Math.min(place.upTo, count), isRead: false });
      spool.sessions.setSentElsewhere(id, true);
    },
    /** The service's session now has this many events, and this machine sent the last ones. */
    accept(id: number, serviceId: string, count: number): void {
      const place = sessions.get(id)?.places.get(serviceId);
      if (place) place.upTo = Math.max(place.upTo, count);
    },
    /** Whether the service has all waiting batches of a session. If so, the known events count as used. */
    async hasAll(id: number, batches: readonly Batch[]): Promise<boolean> {
      await find(id);
      const parts = batches.map(removeKnown);
      const isAll = parts.every(({ rest }) => rest === undefined);
      if (!isAll) giveBack(parts.flatMap(({ taken }) => taken));
      return isAll;
    },
    /** Makes the next call read the session's history again. */
    forget: (id: number): void => void sessions.delete(id),
    /** Stops the comparison for a session once every event from other machines was met here. Its later events are new. */
    forgetMet(ids: readonly number[]): void {
      for (const id of ids) {
        const found = sessions.get(id);
        if (!found || !spool.sessions.get(id).settled || !spool.batches.ofSession(id).next().done) continue;
        // The other sender was faster, so this machine has not read those records yet.
        if (found.events.isExpecting()) continue;
        sessions.delete(id);
        spool.sessions.setSentElsewhere(id, false);
      }
    },
  };
}
