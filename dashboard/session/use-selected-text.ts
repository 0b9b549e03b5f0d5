import { type RefObject, useCallback, useEffect, useRef } from 'react';

/**
 * @returns the text that was marked last on a part of the page. A menu or the palette takes the mark away as it opens, so it
 * is kept until another text is marked, or one clicks among what is read.
 */
export function useSelectedText(part: RefObject<HTMLElement | null>): () => string {
  const latest = useRef('');
  useEffect(() => {
    const note = () => {
      const selection = document.getSelection();
      const at = selection?.anchorNode;
      const place = at instanceof Element ? at : at?.parentElement;
      if (!selection || !place || !part.current?.contains(place) || place.closest('dialog')) return;
      const text = selection.toString().trim();
      if (text !== '' || place.closest('.session-body')) latest.current = text;
    };
    document.addEventListener('selectionchange', note);
    return () => document.removeEventListener('selectionchange', note);
  }, [part]);
  return useCallback(() => latest.current, []);
}
