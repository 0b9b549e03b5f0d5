import type { Member } from '../../../contract/organization.ts';
import { usePerson } from '../../app.ts';
import { paths } from '../../paths.ts';
import { keys, useChange } from '../../queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { ErrorNote } from '../error-note.tsx';

interface Props {
  member: Member;
  onClose: () => void;
}

/** Removes a member, or withdraws an invitation. */
export function Remove({ member: { userId, email, status }, onClose }: Props) {
  const remove = useChange((api, id: string) => api.removeMember({ userId: id }), [keys.members]);
  const isInvited = status === 'invited';
  return (
    <Confirm
      title={isInvited ? `Withdraw the invitation of ${email}` : `Remove ${email}`}
      action={isInvited ? 'Withdraw' : 'Remove'}
      isPending={remove.isPending}
      onConfirm={() => remove.mutate(userId, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        {isInvited
          ? 'Whoever signs in with this e-mail belongs to no organization then. You can invite it again.'
          : 'They can look at nothing here from now on. What was captured stays, and so do secrets: revoke those they know.'}
      </p>
      {remove.isError && <ErrorNote error={remove.error} />}
    </Confirm>
  );
}

export function Leave({ onClose }: { onClose: () => void }) {
  const { organization } = usePerson();
  const leave = useChange((api) => api.leaveOrganization({}), []);
  return (
    <Confirm
      title={`Leave ${organization.name}`}
      action="Leave"
      isPending={leave.isPending}
      // A fresh start, so that nothing of what was seen stays in the page.
      onConfirm={() => leave.mutate(undefined, { onSuccess: () => window.location.assign(paths.home()) })}
      onClose={onClose}
    >
      <p>
        You can look at nothing here from now on, and come back only by an invitation. What was captured stays with the
        organization.
      </p>
      {leave.isError && <ErrorNote error={leave.error} />}
    </Confirm>
  );
}
