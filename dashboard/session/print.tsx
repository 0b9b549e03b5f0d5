import { useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';

/**
 * The whole session on paper: the page itself has only the rows in sight. The document is made first, since a browser
 * waits for nothing once it prints.
 * @param make the elements to print, as HTML in which everything of the session is escaped
 */
export function usePrint(make: () => Promise<string>, onError: (error: unknown) => void) {
  const [html, setHtml] = useState<string>();
  const print = () => void make().then(setHtml, onError);
  const latest = useRef(print);
  latest.current = print;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'p' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return { print, printed: html !== undefined && <Printed html={html} onDone={() => setHtml(undefined)} /> };
}

function Printed({ html, onDone }: { html: string; onDone: () => void }) {
  const paper = useRef<HTMLDivElement>(null);
  const done = useRef(onDone);
  done.current = onDone;
  useEffect(() => {
    const made = new DOMParser().parseFromString(html, 'text/html');
    // On paper nothing opens.
    for (const details of made.querySelectorAll('details')) details.open = true;
    paper.current?.replaceChildren(...made.body.childNodes);
    const finish = () => done.current();
    window.addEventListener('afterprint', finish, { once: true });
    window.print();
    return () => window.removeEventListener('afterprint', finish);
  }, [html]);
  return createPortal(<div ref={paper} className="printed" />, document.body);
}
