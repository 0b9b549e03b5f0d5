import { asObject, type Loose } from '../../../contract/entry/value.ts';
import type { SessionEvent } from '../../../contract/event.ts';
import { isPart, joinParts, type Part } from '../../../contract/parts.ts';

/** The payload of an event, or what the parts of a large one make together. */
export function wholePayload(events: readonly SessionEvent[]): Loose {
  const payloads = events.map(({ payload }) => payload);
  if (payloads.length < 2 || !payloads.every(isPart)) return asObject(payloads[0]);
  try {
    return asObject(joinParts(payloads as unknown as Part[]));
  } catch {
    // Not what it says it is.
    return asObject(payloads[0]);
  }
}
