import { type RefObject, useEffect } from 'react';
import type { Reading } from './reading.ts';

/** The same query as in `session.css`. On such screens, header and strip scroll out above the timeline. */
const LITTLE_HEIGHT = '(max-height: 500px)';

/** On low screens, scrolls header and strip away once the reader is below the first row, to make room for the rows. */
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
