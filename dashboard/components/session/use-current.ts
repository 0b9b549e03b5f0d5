import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';

/**
 * The current event, and the address that follows it after a moment: browsers refuse to be told on every key. `goTo` is
 * called for events that the address was led to from outside: by the link that opened the page, or by another one since.
 */
export function useCurrent(sessionId: string, linked: number | undefined) {
  const navigate = useNavigate();
  const [current, setCurrent] = useState(linked);
  const written = useRef<number>(undefined);

  const select = useCallback((sequence: number) => setCurrent(sequence), []);

  useEffect(() => {
    if (current === undefined || current === linked) return;
    const timer = setTimeout(() => {
      written.current = current;
      const search = (before: object) => ({ ...before, e: current });
      void navigate({ to: '/sessions/$sessionId', params: { sessionId }, search, replace: true });
    }, 250);
    return () => clearTimeout(timer);
    // Only a step of the reader's is written down, not a new address.
  }, [current, navigate, sessionId, linked]);

  return { current, select, written };
}

type Current = ReturnType<typeof useCurrent>;

/** Goes to the linked event once its row is there. */
export function useArrival(
  { written }: Current,
  linked: number | undefined,
  isThere: boolean,
  goTo: (sequence: number) => void,
): void {
  useEffect(() => {
    if (linked === undefined || !isThere || written.current === linked) return;
    written.current = linked;
    goTo(linked);
  }, [linked, isThere, goTo, written]);
}
