import type { Member } from '../../../contract/organization.ts';
import { usePerson } from '../../app.ts';
import { paths } from '../../paths.ts';
import { keys } from '../../queries.ts';
import { showHidden } from '../../text/controls.ts';
import { Confirm } from '../confirm.tsx';

interface Props {
  member: Member;
  onClose: () => void;
}

/** Removes a member, or withdraws an invitation. */
export function Remove({ member: { userId, email: given, status }, onClose }: Props) {
  const isInvited = status === 'invited';
  const email = showHidden(given);
  return (
    <Confirm
      title={isInvited ? `Withdraw the invitation of ${email}` : `Remove ${email}`}
      action={isInvited ? 'Withdraw' : 'Remove'}
      run={(api) => api.removeMember({ userId })}
      touches={[keys.members]}
      onDone={onClose}
      onClose={onClose}
    >
      {isInvited
        ? 'Whoever signs in with this e-mail belongs to no organization then. You can invite it again.'
        : 'They can look at nothing here from now on. What was captured stays, and so do secrets: revoke those they know.'}
    </Confirm>
  );
}

export function Leave({ onClose }: { onClose: () => void }) {
  const { organization } = usePerson();
  return (
    <Confirm
      title={`Leave ${showHidden(organization.name)}`}
      action="Leave"
      run={(api) => api.leaveOrganization({})}
      touches={[]}
      // A fresh start, so that nothing of what was seen stays in the page.
      onDone={() => window.location.assign(paths.home())}
      onClose={onClose}
    >
      You can look at nothing here from now on, and come back only by an invitation. What was captured stays with the
      organization.
    </Confirm>
  );
}
