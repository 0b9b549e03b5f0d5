import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Session } from '../../../contract/session.ts';
import { paths } from '../../paths.ts';
import { useChange } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { plural } from '../../ui/format.ts';
import { ErrorNote } from '../error-note.tsx';

/** Asks, deletes the session for good, and goes back to the list. */
export function DeleteSession({ session: { sessionId, eventCount, status } }: { session: Session }) {
  const [isAsking, setIsAsking] = useState(false);
  const navigate = useNavigate();
  const remove = useChange((api) => api.deleteSession({ sessionId }), [['sessions']]);
  // The page may learn of it first, and take this dialog away.
  const confirm = () =>
    remove.mutateAsync(undefined).then(
      () => navigate({ to: paths.sessions() }),
      () => undefined,
    );
  return (
    <>
      <Button size="small" tone="quiet" icon aria-label="Delete the session" onClick={() => setIsAsking(true)}>
        <Trash2 size={14} />
      </Button>
      {isAsking && (
        <Confirm
          title="Delete this session"
          action="Delete"
          isPending={remove.isPending}
          onConfirm={confirm}
          onClose={() => setIsAsking(false)}
        >
          <p>
            {`Its ${plural(eventCount, 'event')} will be gone for good.`}
            {status === 'active' && ' The agent may still be at work; nothing more is added to this session.'}
          </p>
          {remove.isError && <ErrorNote error={remove.error} />}
        </Confirm>
      )}
    </>
  );
}
