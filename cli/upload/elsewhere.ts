import type { Batch } from '../spool/batches.ts';
import type { Spool } from '../spool/open.ts';
import { createHeldEvents, type HeldEvent, type HeldEvents } from './held.ts';
import { readEvents, withEvents } from './refusals.ts';

/** Asks the service for events of one of its sessions, of which so many at least are to be there; how many there are. */
export type AskHeld = (asked: {
  sessionId: string;
  /** Its number among the service's sessions of one of an agent. */
  place: number;
  held: HeldEvents;
  /** First sequence. */
  from: number;
  atLeast: number;
}) => Promise<number | undefined>;

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
export function createElsewhere(spool: Spool, askHeld: AskHeld) {
  const sessions = new Map<number, { events: HeldEvents; places: Map<string, Place> }>();

  /** All that the service has of a session, apart from what is known to be sent from here. */
  async function find(id: number): Promise<HeldEvents> {
    const found = sessions.get(id) ?? { events: createHeldEvents(), places: new Map<string, Place>() };
    sessions.set(id, found);
    const { events: held, places } = found;
    const { serviceId, serviceEvents = 0 } = spool.sessions.get(id);
    for (const [place, sessionId] of spool.sessions.serviceIds(id).entries()) {
      const { upTo, isRead } = places.get(sessionId) ?? { upTo: 0, isRead: false };
      if (isRead) continue;
      const atLeast = sessionId === serviceId ? serviceEvents : 0;
      const count = (await askHeld({ sessionId, place, held, from: upTo + 1, atLeast })) ?? upTo;
      places.set(sessionId, { upTo: count, isRead: true });
      // What came meanwhile was looked at, too.
      if (sessionId === serviceId && count > serviceEvents) spool.sessions.setServiceEvents(id, count);
    }
    return held;
  }

  return {
    find,
    /** Others have sent more of it than is known here, or may have: what that is will be asked for. `count`: events it has. */
    suspect(id: number, count = Number.POSITIVE_INFINITY): void {
      const { heldElsewhere, serviceId, serviceEvents } = spool.sessions.get(id);
      if (serviceId === undefined || serviceEvents === undefined) return;
      if (!sessions.has(id) && !heldElsewhere) {
        const before = spool.sessions.serviceIds(id).map((one) => [one, { upTo: 0, isRead: true }] as const);
        sessions.set(id, { events: createHeldEvents(), places: new Map(before) });
      }
      const upTo = heldElsewhere ? (sessions.get(id)?.places.get(serviceId)?.upTo ?? 0) : serviceEvents;
      // Fewer than were sent, where the service was restored from a copy.
      sessions.get(id)?.places.set(serviceId, { upTo: Math.min(upTo, count), isRead: false });
      spool.sessions.setHeldElsewhere(id, true);
    },
    /** The service's session has so many events, the last of which were sent from here. */
    accept(id: number, serviceId: string, count: number): void {
      const place = sessions.get(id)?.places.get(serviceId);
      if (place) place.upTo = Math.max(place.upTo, count);
    },
    /** Whether the service holds all that waits of a session; then it is found no second time. */
    async hasAll(id: number, batches: readonly Batch[]): Promise<boolean> {
      return (await find(id)).takeAll(batches.flatMap((batch) => readEvents(batch).map(payloadOf)));
    },
    /** Takes what is held out of a batch. Of a batch that stays in the spool it must be given back. */
    take(batch: Batch): Rest {
      const held = sessions.get(batch.session)?.events;
      const taken: HeldEvent[] = [];
      if (held === undefined) return { batch, taken };
      const left = readEvents(batch).filter((event) => {
        const found = held.takePayload(payloadOf(event));
        if (found) taken.push(found.event);
        return found === undefined;
      });
      if (taken.length === 0) return { batch, taken };
      const rest = left.length === 0 ? undefined : { ...withEvents(batch, left), key: `${batch.key}.${left.length}` };
      return { batch: rest, taken };
    },
    giveBack({ taken }: Rest): void {
      for (const event of taken) event.isTaken = false;
    },
    /** Whatever is known of it is asked for again. */
    forget: (id: number): void => void sessions.delete(id),
    /** Once all that others have sent was met here, what comes is new. */
    forgetMet(ids: readonly number[]): void {
      for (const id of ids) {
        const found = sessions.get(id);
        if (!found || !spool.sessions.get(id).settled || spool.batches.next(id, 0)) continue;
        // Who has sent it was faster; here it is still to be read.
        if (found.events.isExpecting()) continue;
        sessions.delete(id);
        spool.transactLightly(() => spool.sessions.setHeldElsewhere(id, false));
      }
    },
  };
}

/** Of `{"eventType":"…","payload":…}`. */
const payloadOf = (event: string): string => event.slice(event.indexOf('"payload":') + '"payload":'.length, -1);
