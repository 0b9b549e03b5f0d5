import { useQueryClient } from '@tanstack/react-query';
import { CloudOff } from 'lucide-react';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useApp } from '../app/app.ts';
import { FloatingNote } from '../kit/notes.tsx';

/** How long the note about the recovered connection stays, in milliseconds. */
const SAID_FOR = 4_000;

/**
 * Tells the person when the connection to the service is lost, and when it is back. Then all data of the page is read again.
 * It listens to changes itself, so that it works on every page.
 */
export function Connection() {
  const { live } = useApp();
  const client = useQueryClient();
  const state = useSyncExternalStore(live.subscribe, live.state);
  const wasLost = useRef(false);
  const [isBack, setBack] = useState(false);
  useEffect(() => live.onChange(() => {}), [live]);
  useEffect(() => {
    if (state === 'lost') {
      wasLost.current = true;
      setBack(false);
    }
    if (state !== 'open' || !wasLost.current) return;
    wasLost.current = false;
    setBack(true);
    void client.invalidateQueries();
    const timer = setTimeout(() => setBack(false), SAID_FOR);
    return () => clearTimeout(timer);
  }, [state, client]);
  if (state !== 'lost') return <FloatingNote>{isBack && 'The service answers again.'}</FloatingNote>;
  return (
    <FloatingNote>
      <CloudOff size={14} aria-hidden className="flex-none text-warn" />
      {navigator.onLine ? 'The service does not answer.' : 'This machine is offline.'} This page may be out of date.
      Retrying…
    </FloatingNote>
  );
}
