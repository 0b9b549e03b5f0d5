import { readEvent } from '../../transcript/entry/read.ts';
import { clipEntry } from '../derive/clip.ts';
import { type Day, noFacts } from '../derive/facts.ts';
import { fold } from '../derive/fold.ts';
import { readPrices } from '../derive/prices/prices.ts';
import { readKey } from '../derive/spent.ts';

/** An event, and its minute of the day 2026-11-20 if it has a time. */
export type Event = [eventType: string, payload: object, minute?: number];

export const entriesOf = (events: readonly Event[]) =>
  events.map(([eventType, payload, minute], index) =>
    clipEntry(
      readEvent({
        sequence: index + 1,
        eventType,
        createdAt: '2026-11-20T10:00:00.000Z',
        payload: {
          ...payload,
          ...(minute !== undefined && { occurredAt: new Date(Date.UTC(2026, 10, 20) + minute * 60_000).toISOString() }),
        } as never,
      }),
    ),
  );

export const { priceOf } = readPrices();

export function factsOf(...events: Event[]) {
  const facts = noFacts();
  fold(facts, entriesOf(events), priceOf);
  return facts;
}

/** The tokens of each model on a day: input, cached, written to a cache, output. */
export const tokensByModel = ({ models }: Day) =>
  [...models].map(([key, { tokens }]) => {
    const [input, cached, cacheWrite, , output] = tokens;
    return [readKey(key).model, [input, cached, cacheWrite, output]];
  });
