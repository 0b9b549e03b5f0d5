import type { Session } from '../../../contract/session.ts';
import { keys, useChange } from '../../queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { plural } from '../../ui/format.ts';
import { ErrorNote } from '../error-note.tsx';

interface Props {
  session: Session;
  onDeleted: () => void;
  onClose: () => void;
}

/** Asks, and deletes the session for good. */
export function DeleteDialog({ session: { sessionId, eventCount, status }, onDeleted, onClose }: Props) {
  const remove = useChange((api) => api.deleteSession({ sessionId }), [keys.allSessions, keys.allUsage]);
  // The list or page may learn of it first, and take this dialog away.
  const confirm = () => remove.mutateAsync(undefined).then(onDeleted, () => undefined);
  return (
    <Confirm
      title="Delete this session"
      action="Delete"
      isPending={remove.isPending}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        {`Its ${plural(eventCount, 'event')} will be gone for good.`}
        {status === 'active' && ' The agent may still be at work; nothing more is added to this session.'}
      </p>
      {remove.isError && <ErrorNote error={remove.error} />}
    </Confirm>
  );
}
