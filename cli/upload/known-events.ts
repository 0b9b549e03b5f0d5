import { randomBytes } from 'node:crypto';
import { MAX_SESSIONS_AT_ONCE } from '../../contract/capture.ts';
import type { DigestsResult, EventDigest } from '../../contract/digest.ts';
import { createDigester, type PayloadDigests } from '../../transcript/digester.ts';
import { notYet } from './problem.ts';
import type { Retry } from './retry.ts';
import { NotTheService, type Service } from './service.ts';

/**
 * An event of a session that the service or the spool has. Only its digests are known, since the service does not return sent
 * events.
 */
export interface KnownEvent extends PayloadDigests {
  eventType: string;
  /** Its number in its session, from 1. */
  sequence: number;
  /** The position of its session among the service's sessions for the same agent session. */
  place: number;
  /** Increases with place and sequence. */
  number: number;
  isTaken: boolean;
}

/** Names for an event. Two events match if they share a name. Undefined if the digests give none. */
const NAMES = {
  /** The text is the same. */
  same: ({ digest }) => digest,
  /** The text is the same, except for the file and the position it was read from. */
  moved: ({ content }) => content,
  /**
   * The event comes from the same part of the same record, but its text differs: other secrets were known, another version of
   * capture made it, or the record was changed. An id identifies a record anywhere. A record without an id is identified by
   * its place.
   */
  altered({ record, file, position, index = 0, part = 0, revision = 0 }) {
    const place = record ?? (file && `${file} ${position}`);
    return place && `${place} ${index} ${part} ${revision}`;
  },
} as const satisfies { [likeness: string]: (digests: PayloadDigests) => string | undefined };

export type Likeness = keyof typeof NAMES;
const LIKENESSES = Object.keys(NAMES) as Likeness[];

export type KnownEvents = ReturnType<typeof createKnownEvents>;

const isTaken = (event: KnownEvent) => event.isTaken;

/** A nonce that differs in every process, so the service cannot replay stored answers. */
const NONCE = randomBytes(24).toString('base64url');
/** The middle of `{"eventType":"…","payload":…}`. */
const PAYLOAD = ',"payload":';

/** Events to be recognised, each of them once. */
export function createKnownEvents() {
  const { digestPayload, digestName } = createDigester(NONCE);
  const events: KnownEvent[] = [];
  const byName = new Map<string, KnownEvent[]>();
  /** The furthest position of each file that was searched. */
  const asked = new Map<string, number>();

  const keyOf = (likeness: Likeness, digests: PayloadDigests) => `${likeness} ${NAMES[likeness](digests) ?? ''}`;
  const find = (likeness: Likeness, digests: PayloadDigests, isMeant: (event: KnownEvent) => boolean) =>
    byName.get(keyOf(likeness, digests))?.find(isMeant);

  /** Takes the first matching event that was not taken yet. */
  function takeFirst(
    likeness: Likeness,
    digests: PayloadDigests,
    isMeant: (event: KnownEvent) => boolean = () => true,
  ): KnownEvent | undefined {
    const event = find(likeness, digests, (one) => !one.isTaken && isMeant(one));
    if (event) event.isTaken = true;
    return event;
  }

  /** An event's type and its digests, from its JSON text. */
  function digestEvent(event: string): PayloadDigests & { eventType: string } {
    const at = event.indexOf(PAYLOAD);
    const { eventType } = JSON.parse(`${event.slice(0, at)}}`) as { eventType: string };
    return { eventType, ...digestPayload(event.slice(at + PAYLOAD.length, -1)) };
  }

  return {
    events: events as readonly KnownEvent[],
    digestEvent,
    digestName,
    add(place: number, digests: EventDigest): void {
      const event = { ...digests, place, number: events.length, isTaken: false };
      events.push(event);
      for (const likeness of LIKENESSES.filter((one) => NAMES[one](event) !== undefined)) {
        const key = keyOf(likeness, event);
        const named = byName.get(key);
        if (named) named.push(event);
        else byName.set(key, [event]);
      }
    },
    takeFirst,
    /** Takes the known event that matches a JSON text. A taken event is not found a second time. */
    takeEvent(text: string): KnownEvent | undefined {
      const digests = digestEvent(text);
      const { file = '', position = 0 } = digests;
      asked.set(file, Math.max(asked.get(file) ?? 0, position));
      // Earlier positions of the file were already searched, perhaps by a process that was killed. This process repeats that.
      const isPassed = (event: KnownEvent) => event.file === file && (event.position ?? 0) < position;
      for (const likeness of LIKENESSES) {
        const event = takeFirst(likeness, digests, (one) => likeness !== 'moved' || !isPassed(one));
        if (event) return event;
      }
      return undefined;
    },
    /**
     * Whether a known event may still be looked up. It is then beyond every position searched in its file, or in a file that
     * was not searched.
     */
    isExpecting: (): boolean =>
      events.some(({ isTaken, file = '', position = 0, revision = 0 }) => {
        const isPassed = revision === 0 && (asked.get(file) ?? -1) >= position;
        return !isTaken && !isPassed;
      }),
    /** A taken event with exactly these digests, or else one that differs only in its file and position. */
    findTaken: (digests: PayloadDigests) => find('same', digests, isTaken) ?? find('moved', digests, isTaken),
  };
}

/** A session of the service to read digests of. */
export interface AskedSession {
  sessionId: string;
  /** Its position among the service's sessions for the same agent session. */
  place: number;
  known: KnownEvents;
  /** The first sequence to read. */
  from?: number;
  /** How many events the answer must cover. Accepted events may still be on their way to the place where digests are made. */
  atLeast?: number;
}

/**
 * Reads the digests of sessions, many per request, adds them to `known`, and returns the number of events of each. A session
 * that the service does not know is absent. `attempt` repeats a request if that may help.
 */
export async function readKnownEvents(
  { client, url }: Pick<Service, 'client' | 'url'>,
  attempt: Retry['attempt'],
  sessions: readonly AskedSession[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let left = sessions.map((session) => ({ ...session, from: session.from ?? 1 }));

  async function ask(asked: typeof left): Promise<DigestsResult[]> {
    const places = asked.map(({ sessionId, from }) => ({ sessionId, from }));
    const { results = [] } = (await client.listEventDigests({ body: { nonce: NONCE, sessions: places } })).body;
    for (const [index, { sessionId, from, atLeast = 0 }] of asked.entries()) {
      const result = results[index];
      if (result?.sessionId !== sessionId) throw new NotTheService(`${url} does not answer with the digests of events`);
      const { digests, nextFrom } = result;
      const isShort = digests !== undefined && nextFrom === null && from - 1 + digests.length < atLeast;
      if (isShort) throw notYet('service_unavailable', 'Events that were accepted cannot be read yet');
    }
    return results;
  }

  while (left.length > 0) {
    const asked = left.slice(0, MAX_SESSIONS_AT_ONCE);
    const results = await attempt(() => ask(asked));
    const unfinished = asked.flatMap((session, index) => {
      const { digests, nextFrom = null } = results[index] as DigestsResult;
      if (digests === undefined) return [];
      for (const event of digests) session.known.add(session.place, event);
      if (nextFrom !== null) return [{ ...session, from: nextFrom }];
      counts.set(session.sessionId, session.from - 1 + digests.length);
      return [];
    });
    left = [...unfinished, ...left.slice(asked.length)];
  }
  return counts;
}
