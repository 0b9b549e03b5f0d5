import type { Session } from '../../contract/session.ts';
import { keys } from '../app/queries.ts';
import { plural } from '../kit/format.ts';
import { Confirm } from './confirm.tsx';

interface Props {
  session: Session;
  onDeleted: () => void;
  onClose: () => void;
}

/** Asks for confirmation and deletes the session permanently. */
export const DeleteDialog = ({ session: { sessionId, eventCount, status }, onDeleted, onClose }: Props) => (
  <Confirm
    title="Delete this session"
    action="Delete"
    run={(api) => api.deleteSession({ sessionId })}
    touches={[keys.allSessions, keys.allUsage]}
    onDone={onDeleted}
    onClose={onClose}
  >
    {`Its ${plural(eventCount, 'event')} will be deleted permanently. The agent's own transcript stays on the machine and is not captured again.`}
    {status === 'active' && ' If the agent is still running, its next events are not recorded.'}
  </Confirm>
);
