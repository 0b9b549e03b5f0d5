import { useQuery } from '@tanstack/react-query';
import { asObject, type Loose } from '../../../contract/entry/value.ts';
import type { SessionEvent } from '../../../contract/event.ts';
import { isPart, joinParts, type Part } from '../../../contract/parts.ts';
import { useApp } from '../../app.ts';
import { keys } from '../../queries.ts';

export interface WholeEvent {
  events: readonly SessionEvent[];
  /** The payload, its parts joined. */
  payload: Loose;
}

/** An event as it is stored: the timeline keeps only what its rows show. */
export function usePayload(sessionId: string, sequence: number | undefined, span = 1) {
  const { api } = useApp();
  return useQuery({
    queryKey: keys.event(sessionId, sequence ?? 0),
    enabled: sequence !== undefined,
    // An event never changes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    queryFn: async ({ signal }): Promise<WholeEvent> => {
      const query = { from: String(sequence), limit: String(span) };
      const { events } = (await api.getEventWindow({ sessionId, query, signal })).body;
      return { events, payload: asObject(join(events)) };
    },
  });
}

function join(events: readonly SessionEvent[]): unknown {
  const payloads = events.map(({ payload }) => payload);
  if (payloads.length < 2 || !payloads.every(isPart)) return payloads[0];
  try {
    return joinParts(payloads as unknown as Part[]);
  } catch {
    return payloads[0];
  }
}
