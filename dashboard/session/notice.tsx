import { useEffect, useState } from 'react';

/** A word on what was done, or what a link led past. It goes with the next key or click. */
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

/** There before it has words, or they would not be read out. */
export const Notice = ({ words }: { words: string }) => (
  <p role="status" className="session-notice">
    {words}
  </p>
);
