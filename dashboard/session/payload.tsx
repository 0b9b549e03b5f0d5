import type { ReactNode } from 'react';
import { ErrorNote } from '../shared/error-note.tsx';
import { usePayload, type WholeEvent } from './use-payload.ts';

interface Props {
  sessionId: string;
  sequence: number | undefined;
  span: number | undefined;
  children: (event: WholeEvent) => ReactNode;
}

/** Renders a stored event once it is read. Until then, it shows that the event loads or the error. */
export function Payload({ sessionId, sequence, span, children }: Props) {
  const { data, error, refetch } = usePayload(sessionId, sequence, span);
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return data ? children(data) : <p className="text-12 text-muted">Loading…</p>;
}
