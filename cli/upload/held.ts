import { randomBytes } from 'node:crypto';
import { MAX_SESSIONS_AT_ONCE } from '../../contract/capture.ts';
import type { DigestsResult, EventDigest } from '../../contract/digest.ts';
import { createDigester, type PayloadDigests } from '../../contract/digester.ts';
import { notYet } from './problem.ts';
import type { Retry } from './retry.ts';
import { NotTheService, type Service } from './service.ts';

/** An event of a session that the service, or the spool, has: by digests, since what was sent does not come back. */
export interface HeldEvent extends PayloadDigests {
  eventType: string;
  /** In its session, from 1. */
  sequence: number;
  /** Which of several sessions has it: they follow one another. */
  place: number;
  /** Grows with place and sequence. */
  number: number;
  isTaken: boolean;
}

/** Names for an event: two events are alike if they share one. Undefined if the digests give none. */
const NAMES = {
  /** Its very text. */
  same: ({ digest }) => digest,
  /** The same but for the file and the position it was read from. */
  moved: ({ content }) => content,
  /**
   * Made of the same part of the same record, with another text: other secrets were known, another version of capture made
   * it, or it was changed. A record with an id is that record wherever it stands; one without is known by its place alone.
   */
  altered({ record, file, position, index = 0, part = 0, revision = 0 }) {
    const place = record ?? (file && `${file} ${position}`);
    return place && `${place} ${index} ${part} ${revision}`;
  },
} as const satisfies { [likeness: string]: (digests: PayloadDigests) => string | undefined };

export type Likeness = keyof typeof NAMES;
const LIKENESSES = Object.keys(NAMES) as Likeness[];

export type HeldEvents = ReturnType<typeof createHeldEvents>;

const isTaken = (event: HeldEvent) => event.isTaken;

/** Different in every process: the service cannot have kept its answers. */
const NONCE = randomBytes(24).toString('base64url');
/** Of `{"eventType":"…","payload":…}`. */
const PAYLOAD = ',"payload":';

/** Events to be recognised, each of them once. */
export function createHeldEvents() {
  const { digestPayload, digestName } = createDigester(NONCE);
  const events: HeldEvent[] = [];
  const byName = new Map<string, HeldEvent[]>();
  /** The furthest position of each file that was searched. */
  const asked = new Map<string, number>();

  const keyOf = (likeness: Likeness, digests: PayloadDigests) => `${likeness} ${NAMES[likeness](digests) ?? ''}`;
  const find = (likeness: Likeness, digests: PayloadDigests, isMeant: (event: HeldEvent) => boolean) =>
    byName.get(keyOf(likeness, digests))?.find(isMeant);

  /** The first one that is so like it and was not taken yet; then it is. */
  function takeFirst(
    likeness: Likeness,
    digests: PayloadDigests,
    isMeant: (event: HeldEvent) => boolean = () => true,
  ): HeldEvent | undefined {
    const event = find(likeness, digests, (one) => !one.isTaken && isMeant(one));
    if (event) event.isTaken = true;
    return event;
  }

  /** An event's type and its digests, by its JSON text. */
  function digestEvent(event: string): PayloadDigests & { eventType: string } {
    const at = event.indexOf(PAYLOAD);
    const { eventType } = JSON.parse(`${event.slice(0, at)}}`) as { eventType: string };
    return { eventType, ...digestPayload(event.slice(at + PAYLOAD.length, -1)) };
  }

  return {
    events: events as readonly HeldEvent[],
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
    /** Whether an event is held, by its JSON text; what is so is taken, and not found a second time. */
    takeEvent(text: string): HeldEvent | undefined {
      const digests = digestEvent(text);
      const { file = '', position = 0 } = digests;
      asked.set(file, Math.max(asked.get(file) ?? 0, position));
      // Earlier positions of the file were searched before, perhaps by a process that was killed: this one repeats it.
      const isPassed = (event: HeldEvent) => event.file === file && (event.position ?? 0) < position;
      for (const likeness of LIKENESSES) {
        const event = takeFirst(likeness, digests, (one) => likeness !== 'moved' || !isPassed(one));
        if (event) return event;
      }
      return undefined;
    },
    /** Whether one of them may still be looked up: it is further in its file than any so far, or in another file. */
    isExpecting: (): boolean =>
      events.some(({ isTaken, file = '', position = 0, revision = 0 }) => {
        const isPassed = revision === 0 && (asked.get(file) ?? -1) >= position;
        return !isTaken && !isPassed;
      }),
    /** One that was taken and is exactly this, or else all but its file and position. */
    findTaken: (digests: PayloadDigests) => find('same', digests, isTaken) ?? find('moved', digests, isTaken),
  };
}

/** A session of the service to read digests of. */
export interface AskedSession {
  sessionId: string;
  /** Its number among the service's sessions of one of an agent. */
  place: number;
  held: HeldEvents;
  /** First sequence. */
  from?: number;
  /** How many events it must have: they may be on their way to where digests are made. */
  atLeast?: number;
}

/**
 * Reads the digests of sessions, many in a request, adds them to `held`, and returns the number of events of each. A session
 * that the service does not know is absent. `attempt` repeats a request where that may help.
 */
export async function readHeld(
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
      for (const event of digests) session.held.add(session.place, event);
      if (nextFrom !== null) return [{ ...session, from: nextFrom }];
      counts.set(session.sessionId, session.from - 1 + digests.length);
      return [];
    });
    left = [...unfinished, ...left.slice(asked.length)];
  }
  return counts;
}
