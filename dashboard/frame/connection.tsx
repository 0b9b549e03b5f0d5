import { useQueryClient } from '@tanstack/react-query';
import { CloudOff } from 'lucide-react';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useApp } from '../app/app.ts';

/** How long the note that the service is back stays, in milliseconds. */
const SAID_FOR = 4_000;

/**
 * Says when the service is away, and when it is back; what is on the page is then read again. It listens to changes itself,
 * so that every page knows.
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
  return (
    <div role="status" className="connection">
      {state === 'lost' && (
        <p className="connection-note">
          <CloudOff size={14} aria-hidden className="flex-none text-warn" />
          {navigator.onLine ? 'The service does not answer.' : 'This machine is offline.'} What you see may be old; it
          is tried again.
        </p>
      )}
      {isBack && <p className="connection-note">The service answers again.</p>}
    </div>
  );
}
