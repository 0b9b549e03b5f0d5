import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Budget } from './budget.ts';
import type { KnownFinder } from './known/finder.ts';
import { createMarker } from './mark.ts';
import { createPayloadRedactor } from './payload.ts';
import { RULES } from './rules/all.ts';
import { type Count, createTextRedactor } from './text.ts';

type Payload = CapturedEvent['payload'];

export interface EventRedactorOptions {
  /** Asked for each text: what is known grows while sessions are read. */
  known: () => KnownFinder;
  key: Uint8Array;
  allow: readonly string[];
  budget: Budget;
}

/** Masks one event after the other, here or in the worker. Throws where it cannot, or may not take any longer. */
export function createEventRedactor({ known, key, allow, budget }: EventRedactorOptions) {
  const text = createTextRedactor({ rules: RULES, known, mark: createMarker(key), allow: new Set(allow), budget });
  const payload = createPayloadRedactor(text, budget);

  /** Paths and ids say which record this is. Only what is surely a secret is taken out of them. */
  function redactSource(source: Payload['source'], count: Count): Payload['source'] {
    const entries = Object.entries(source).map(([name, value]) => [
      name,
      typeof value === 'string' ? text.redactKnown(value, count) : value,
    ]);
    return Object.fromEntries(entries) as Payload['source'];
  }

  /** A copy without secrets; the event itself where there are none. */
  function redactEvent(event: CapturedEvent): CapturedEvent {
    const counts = new Map<string, number>();
    const count: Count = (rule) => counts.set(rule, (counts.get(rule) ?? 0) + 1);
    const { source, redactions, ...fields } = event.payload;
    const after: { [name: string]: unknown } = { source: redactSource(source, count) };
    for (const [name, value] of Object.entries(fields)) after[name] = payload.redactJson(value, name, count);
    if (counts.size === 0) return event;
    return { ...event, payload: { ...after, redactions: addCounts(redactions, counts) } } as CapturedEvent;
  }

  return { redactEvent, redactSource };
}

function addCounts(before: { [rule: string]: number } | undefined, counts: Map<string, number>) {
  const sums = { ...before };
  for (const [rule, number] of counts) sums[rule] = (sums[rule] ?? 0) + number;
  return sums;
}
