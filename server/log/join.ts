import { isPart, joinParts, type Part } from '../../transcript/parts.ts';

/** An event with its parsed payload. */
export interface ReadEvent {
  sequence: number;
  eventType: string;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Size of its payload as JSON. */
  bytes: number;
  payload: unknown;
}

interface EventPart {
  event: ReadEvent;
  part: Part;
}

/** The same number as in deriving. */
const MAX_JOINED = 64;

/**
 * Joins payloads that were sent in parts into one event, in the place of the first part. Parts that are not consecutive stay
 * separate events.
 */
export class Joiner {
  #parts: EventPart[] = [];

  /** @returns the events that are complete now */
  add(event: ReadEvent): ReadEvent[] {
    const { payload } = event;
    if (!isPart(payload)) return [...this.end(), event];
    const before = payload.part === this.#parts.length + 1 ? [] : this.end();
    this.#parts.push({ event, part: payload });
    if (payload.part !== this.#parts.length || payload.of > MAX_JOINED) return [...before, ...this.end()];
    if (payload.of !== this.#parts.length) return before;
    const parts = this.#parts;
    this.#parts = [];
    const joined = {
      ...(parts[0] as EventPart).event,
      bytes: parts.reduce((sum, { event }) => sum + event.bytes, 0),
      payload: join(parts.map(({ part }) => part)),
    };
    return [...before, joined];
  }

  /** @returns the parts of an incomplete payload */
  end(): ReadEvent[] {
    const events = this.#parts.map(({ event }) => event);
    this.#parts = [];
    return events;
  }
}

/** The joined payload; the joined text if it is not JSON. */
function join(parts: readonly Part[]): unknown {
  try {
    return joinParts(parts);
  } catch {
    return { text: parts.map(({ json }) => json).join('') };
  }
}
