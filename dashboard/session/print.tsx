import { useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { FloatingNote } from '../kit/notes.tsx';

/**
 * Prints the whole session, since the page itself only has the visible rows. The document is created first, because a
 * browser does not wait once it prints.
 * @param make creates the elements to print, as HTML in which all text of the session is escaped
 */
export function usePrint(make: () => Promise<string>, onError: (error: unknown) => void) {
  /** An object, so that the same text can be printed again. */
  const [made, setMade] = useState<{ html: string }>();
  const [isMaking, setMaking] = useState(false);
  const isBusy = useRef(false);
  const print = async () => {
    if (isBusy.current) return;
    isBusy.current = true;
    setMaking(true);
    try {
      setMade({ html: await make() });
    } catch (error) {
      onError(error);
    } finally {
      isBusy.current = false;
      setMaking(false);
    }
  };
  const latest = useRef(print);
  latest.current = print;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'p' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      void latest.current();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  const printed = (
    <>
      {createPortal(<FloatingNote>{isMaking && 'Preparing the whole session…'}</FloatingNote>, document.body)}
      {made && <Printed made={made} onDone={() => setMade(undefined)} />}
    </>
  );
  return { print, printed };
}

function Printed({ made, onDone }: { made: { html: string }; onDone: () => void }) {
  const paper = useRef<HTMLDivElement>(null);
  const done = useRef(onDone);
  done.current = onDone;
  useEffect(() => {
    const parsed = new DOMParser().parseFromString(made.html, 'text/html');
    // Nothing can be opened on paper.
    for (const details of parsed.querySelectorAll('details')) details.open = true;
    paper.current?.replaceChildren(...parsed.body.childNodes);
    const finish = () => done.current();
    window.addEventListener('afterprint', finish, { once: true });
    window.print();
    return () => window.removeEventListener('afterprint', finish);
  }, [made]);
  return createPortal(<div ref={paper} className="printed paper" />, document.body);
}
