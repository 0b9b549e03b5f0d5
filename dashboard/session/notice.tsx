import { useEffect, useState } from 'react';

/** A short notice about an action or a link. The next key or click removes it. */
export function useNotice() {
  const [words, tell] = useState('');
  useEffect(() => {
    if (words === '') return;
    const listening = new AbortController();
    const options = { capture: true, signal: listening.signal };
    for (const kind of ['keydown', 'pointerdown']) window.addEventListener(kind, () => tell(''), options);
    return () => listening.abort();
  }, [words]);
  return [words, tell] as const;
}

/** Always in the page, even without words; otherwise screen readers would not announce them. */
export const Notice = ({ words }: { words: string }) => (
  <p role="status" className="session-notice">
    {words}
  </p>
);
