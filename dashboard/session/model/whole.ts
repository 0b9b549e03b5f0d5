import type { SessionEvent } from '../../../contract/event.ts';
import { unwrapProgress } from '../../../transcript/entry/progress.ts';
import { asObject, type Loose } from '../../../transcript/entry/value.ts';
import { isPart, joinParts, type Part } from '../../../transcript/parts.ts';

/** The payload of an event, joined from its parts if it is large. A message of a sub-agent is unwrapped. */
export const wholePayload = (events: readonly SessionEvent[]): Loose =>
  unwrapProgress(events[0]?.eventType ?? '', joinedPayload(events)).payload;

function joinedPayload(events: readonly SessionEvent[]): Loose {
  const payloads = events.map(({ payload }) => payload);
  if (payloads.length < 2 || !payloads.every(isPart)) return asObject(payloads[0]);
  try {
    return asObject(joinParts(payloads as unknown as Part[]));
  } catch {
    // The events claim to be parts, but are not.
    return asObject(payloads[0]);
  }
}
