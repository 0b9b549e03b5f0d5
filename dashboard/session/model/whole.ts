import { unwrapProgress } from '../../../contract/entry/progress.ts';
import { asObject, type Loose } from '../../../contract/entry/value.ts';
import type { SessionEvent } from '../../../contract/event.ts';
import { isPart, joinParts, type Part } from '../../../contract/parts.ts';

/** The payload of an event, or what the parts of a large one make together; of a sub-agent's message, that message. */
export const wholePayload = (events: readonly SessionEvent[]): Loose =>
  unwrapProgress(events[0]?.eventType ?? '', joinedPayload(events)).payload;

function joinedPayload(events: readonly SessionEvent[]): Loose {
  const payloads = events.map(({ payload }) => payload);
  if (payloads.length < 2 || !payloads.every(isPart)) return asObject(payloads[0]);
  try {
    return asObject(joinParts(payloads as unknown as Part[]));
  } catch {
    // Not what it says it is.
    return asObject(payloads[0]);
  }
}
