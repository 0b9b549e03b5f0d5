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
  <p
    role="status"
    data-part="notice"
    className="absolute right-4 bottom-14 z-6 max-w-[calc(100%-32px)] rounded-md border border-line bg-raised px-3 py-2 shadow-float empty:invisible"
  >
    {words}
  </p>
);
