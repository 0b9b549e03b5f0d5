import { useQuery } from '@tanstack/react-query';
import type { SessionEvent } from '../../contract/event.ts';
import type { Loose } from '../../transcript/entry/value.ts';
import { useApp } from '../app/app.ts';
import { keys } from '../app/queries.ts';
import { wholePayload } from './model/whole.ts';

export interface WholeEvent {
  events: readonly SessionEvent[];
  /** The payload, its parts joined. */
  payload: Loose;
}

/** The query of a stored event. The timeline itself only keeps the data of its rows. */
export function usePayloadQuery(sessionId: string) {
  const { api } = useApp();
  return (sequence: number, span: number) => ({
    queryKey: keys.event(sessionId, sequence),
    // An event never changes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<WholeEvent> => {
      const query = { from: String(sequence), limit: String(span) };
      const { events } = (await api.getEventWindow({ sessionId, query, signal })).body;
      return { events, payload: wholePayload(events) };
    },
  });
}

export function usePayload(sessionId: string, sequence: number | undefined, span = 1) {
  const query = usePayloadQuery(sessionId);
  return useQuery({ ...query(sequence ?? 0, span), enabled: sequence !== undefined });
}
