import { type RefObject, useCallback, useEffect, useRef } from 'react';

/**
 * @returns the text selected last in a part of the page. A menu or the palette clears the selection when it opens, so the
 * text is kept until the person selects another text or clicks in the session.
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
