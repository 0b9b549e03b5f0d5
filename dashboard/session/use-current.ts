import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Reading } from './reading.ts';

/**
 * Updates the address to the current row after a moment, since browsers limit how often a page may change it. Calls `goTo`
 * if the address changes from outside: by the link that opened the page, or by another link since.
 */
export function useAddress(
  { current }: Reading,
  sessionId: string,
  linked: number | undefined,
  isThere: boolean,
  goTo: (sequence: number) => void,
): void {
  const navigate = useNavigate();
  const written = useRef<number>(undefined);
  const followed = useRef<number>(undefined);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const write = () => {
      const sequence = current.get()?.sequence;
      if (sequence === undefined || sequence === written.current) return;
      written.current = sequence;
      const search = (before: object) => ({ ...before, e: sequence });
      void navigate({ to: '/sessions/$sessionId', params: { sessionId }, search, replace: true });
    };
    const stop = current.subscribe(() => {
      clearTimeout(timer);
      timer = setTimeout(write, 250);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [current, navigate, sessionId]);

  useEffect(() => {
    // Until the written address takes effect, the address still has the last event, which was handled already.
    if (linked === undefined || !isThere || followed.current === linked) return;
    followed.current = linked;
    if (written.current === linked) return;
    written.current = linked;
    goTo(linked);
  }, [linked, isThere, goTo]);
}
