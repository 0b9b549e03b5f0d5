import { useEffect, useRef } from 'react';

export type Keys = readonly (readonly [key: string, run: () => void])[];

/** Handles single keys and pairs such as `g g`, except while the person types or while a dialog is open. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let before = '';
    const onKey = (event: KeyboardEvent) => {
      // A menu that Escape has just closed is no longer in the document.
      if (event.defaultPrevented) return;
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open], [role="menu"]')) return;
      // The control with the focus handles these keys.
      const isControl = event.target instanceof Element && event.target.closest('a, button, [role="slider"]');
      if (isControl && (event.key === 'Enter' || event.key === ' ')) return;
      const pair = `${before} ${event.key}`;
      const keys = new Map(latest.current);
      const run = keys.get(pair) ?? keys.get(event.key);
      before = keys.has(pair) ? '' : event.key;
      if (!run) return;
      event.preventDefault();
      run();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type="checkbox"]), textarea, select'));
