import { type RefObject, useEffect } from 'react';
import type { Reading } from './reading.ts';

/** As `session.css` has it: there, header and strip are above what fills the screen. */
const LITTLE_HEIGHT = '(max-height: 500px)';

/** On low screens, hides header and strip while rows below the first are read, to leave room for them. */
export function useHeaderAway(page: RefObject<HTMLElement | null>, { seen }: Reading, first: number): void {
  useEffect(() => {
    const little = window.matchMedia(LITTLE_HEIGHT);
    const follow = () => {
      if (!little.matches || !page.current) return;
      page.current.scrollTop = seen.get().from > first ? page.current.scrollHeight : 0;
    };
    follow();
    little.addEventListener('change', follow);
    const stop = seen.subscribe(follow);
    return () => {
      little.removeEventListener('change', follow);
      stop();
    };
  }, [page, seen, first]);
}
