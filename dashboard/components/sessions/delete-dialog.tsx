import type { Session } from '../../../contract/session.ts';
import { keys } from '../../queries.ts';
import { plural } from '../../ui/format.ts';
import { Confirm } from '../confirm.tsx';

interface Props {
  session: Session;
  onDeleted: () => void;
  onClose: () => void;
}

/** Asks, and deletes the session for good. */
export const DeleteDialog = ({ session: { sessionId, eventCount, status }, onDeleted, onClose }: Props) => (
  <Confirm
    title="Delete this session"
    action="Delete"
    run={(api) => api.deleteSession({ sessionId })}
    touches={[keys.allSessions, keys.allUsage]}
    onDone={onDeleted}
    onClose={onClose}
  >
    {`Its ${plural(eventCount, 'event')} will be gone for good.`}
    {status === 'active' && ' The agent may still be at work; nothing more is added to this session.'}
  </Confirm>
);
