import { randomBytes } from 'node:crypto';
import type { DigestPage, EventDigest } from '../../contract/digest.ts';
import { createDigester, type PayloadDigests } from '../../contract/digester.ts';
import { hasStatus } from './problem.ts';
import type { Service } from './service.ts';

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

/**
 * How a held event is the asked one.
 *  - `same`: its very text
 *  - `moved`: but for the file and the position it was read from
 *  - `altered`: what was made of the same part of the same record, with another text: other secrets were known, another
 *    version of capture made it, or it was changed
 */
export type Likeness = 'same' | 'moved' | 'altered';

export type HeldEvents = ReturnType<typeof createHeldEvents>;

/** Different in every process: the service cannot have kept its answers. */
const NONCE = randomBytes(24).toString('base64url');
const PAGE = 1000;

/** Events to be recognised, each of them once. */
export function createHeldEvents() {
  const { digestPayload, digestName } = createDigester(NONCE);
  const events: HeldEvent[] = [];
  const byName = new Map<string, HeldEvent[]>();

  /** Nothing else names an event: the digest of its text is as good as the text. */
  function find(names: Iterable<string>, wanted: (event: HeldEvent) => boolean): HeldEvent | undefined {
    for (const name of names) {
      const event = byName.get(name)?.find(wanted);
      if (event) return event;
    }
    return undefined;
  }

  /** The first one of these names that was not taken yet; then it is. */
  function takeFirst(names: Iterable<string>): HeldEvent | undefined {
    const event = find(names, ({ isTaken }) => !isTaken);
    if (event) event.isTaken = true;
    return event;
  }

  /** One that is exactly this. */
  const takeSame = (digests: PayloadDigests) => takeFirst(textNames(digests));
  /** One that is this but for its file and position. */
  const takeMoved = (digests: PayloadDigests) => takeFirst(contentNames(digests));
  /** One that was made of the same part of the same record. */
  const takeAltered = (digests: PayloadDigests) => takeFirst(placeNames(digests));

  return {
    events: events as readonly HeldEvent[],
    digestPayload,
    digestName,
    add(place: number, digests: EventDigest): void {
      const event = { ...digests, place, number: events.length, isTaken: false };
      events.push(event);
      for (const name of [...textNames(event), ...contentNames(event), ...placeNames(event)]) {
        const named = byName.get(name);
        if (named) named.push(event);
        else byName.set(name, [event]);
      }
    },
    takeSame,
    takeMoved,
    takeAltered,
    /** Whether an event is held, by the JSON text of its payload; what is so is taken, and not found a second time. */
    take(payload: string): Likeness | undefined {
      const digests = digestPayload(payload);
      if (takeSame(digests)) return 'same';
      if (takeMoved(digests)) return 'moved';
      return takeAltered(digests) && 'altered';
    },
    /** One that was taken and is exactly this, or else all but its file and position. */
    findTaken: (digests: PayloadDigests): HeldEvent | undefined =>
      find([...textNames(digests), ...contentNames(digests)], ({ isTaken }) => isTaken),
  };
}

const textNames = ({ digest }: PayloadDigests): string[] => (digest === undefined ? [] : [`text ${digest}`]);
const contentNames = ({ content }: PayloadDigests): string[] => (content === undefined ? [] : [`content ${content}`]);

/** A record with an id is that record wherever it stands; one without is known by its place alone. */
function placeNames({ record, file, position, index = 0, part = 0, revision = 0 }: PayloadDigests): string[] {
  if (record !== undefined) return [`record ${record} ${index} ${part} ${revision}`];
  return file === undefined ? [] : [`place ${file} ${position} ${index} ${part} ${revision}`];
}

/**
 * Asks for all that the service has of a session and adds it; false where the service does not know the session.
 * `attempt` repeats a request where that may help.
 */
export async function readHeld(
  { client }: Service,
  { sessionId, place = 0, held }: { sessionId: string; place?: number; held: HeldEvents },
  attempt: <Answer>(request: () => Promise<Answer>) => Promise<Answer> = (request) => request(),
): Promise<boolean> {
  for (let from: number | null = 1; from !== null; ) {
    const query = { nonce: NONCE, from: String(from), limit: String(PAGE) };
    try {
      const page: DigestPage = (await attempt(() => client.listEventDigests({ sessionId, query }))).body;
      for (const digests of page.digests) held.add(place, digests);
      from = page.nextFrom;
    } catch (error) {
      if (hasStatus(error, 404)) return false;
      throw error;
    }
  }
  return true;
}
