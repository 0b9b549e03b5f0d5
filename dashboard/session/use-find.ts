import { useEffect, useState } from 'react';
import type { Hit } from '../../contract/review.ts';
import { useApp } from '../app/app.ts';

export interface Found {
  hits: readonly Hit[];
  isSearching: boolean;
  error: unknown;
}

const NONE: Found = { hits: [], isSearching: false, error: undefined };
/** A search waits for this long, so that half-typed words are not searched for. */
const TYPING_MS = 180;
/** More hits than anybody steps through. */
const MAX_HITS = 5_000;

/** Searches the whole session, including long outputs. The service searches one range for each request, up to the end. */
export function useFind(sessionId: string, words: string): Found {
  const { api } = useApp();
  const [found, setFound] = useState(NONE);

  useEffect(() => {
    const q = words.trim();
    setFound(q === '' ? NONE : { ...NONE, isSearching: true });
    if (q === '') return;
    const stop = new AbortController();
    const search = async () => {
      const hits: Hit[] = [];
      let from: number | null = 1;
      while (from !== null && hits.length < MAX_HITS) {
        const query = { q, from: String(from) };
        const { body }: { body: { hits: Hit[]; next: number | null } } = await api.findInSession({
          sessionId,
          query,
          signal: stop.signal,
        });
        hits.push(...body.hits);
        from = body.next;
        setFound({ hits: hits.slice(), isSearching: from !== null, error: undefined });
      }
    };
    const timer = setTimeout(() => {
      search().catch((error: unknown) => {
        if (!stop.signal.aborted) setFound(({ hits }) => ({ hits, isSearching: false, error }));
      });
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, sessionId, words]);
  return found;
}
