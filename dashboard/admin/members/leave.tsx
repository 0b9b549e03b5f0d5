import { useState } from 'react';
import type { Member } from '../../../contract/organization.ts';
import { useApp, usePerson } from '../../app/app.ts';
import { paths } from '../../app/paths.ts';
import { keys, useSecrets } from '../../app/queries.ts';
import { showHidden } from '../../kit/text/controls.ts';
import { Confirm } from '../../shared/confirm.tsx';

interface Props {
  member: Member;
  onClose: () => void;
}

/** Removes a member, or withdraws an invitation. */
export function Remove({ member: { userId, email: given, status }, onClose }: Props) {
  const isInvited = status === 'invited';
  const [isRevoking, setRevoking] = useState(true);
  const secrets = useSecrets();
  const issued = (secrets.data ?? []).filter((secret) => secret.createdBy === userId && secret.status === 'active');
  const email = showHidden(given);
  return (
    <Confirm
      title={isInvited ? `Withdraw the invitation of ${email}` : `Remove ${email}`}
      action={isInvited ? 'Withdraw' : 'Remove'}
      run={(api) => api.removeMember({ userId, query: { secrets: isRevoking ? 'revoke' : 'keep' } })}
      touches={[keys.members, keys.secrets]}
      onDone={onClose}
      onClose={onClose}
      extra={
        issued.length > 0 && (
          <label className="flex gap-2">
            <input type="checkbox" checked={isRevoking} onChange={(event) => setRevoking(event.target.checked)} />
            <span>
              Revoke the {issued.length === 1 ? 'active secret' : `${issued.length} active secrets`} they issued.
              Machines that use {issued.length === 1 ? 'it' : 'them'} stop sending until they are signed in again.
            </span>
          </label>
        )
      }
    >
      {isInvited
        ? 'The invitation no longer works. You can invite this address again.'
        : `${email} loses access now. Their sessions stay.`}
    </Confirm>
  );
}

/** Deletes what the service knows of the person themselves. */
export function DeleteAccount({ onClose }: { onClose: () => void }) {
  const { auth } = useApp();
  return (
    <Confirm
      title="Delete your account"
      action="Delete"
      run={(api) => api.deleteAccount({})}
      touches={[]}
      onDone={() => void auth.signOut()}
      onClose={onClose}
    >
      Deletes your e-mail, membership and sign-ins, and revokes the secrets you issued. Recorded sessions stay with the
      organization. An account at another identity provider stays there.
    </Confirm>
  );
}

/** Deletes the organization with all that it has, after its name was typed. */
export function DeleteOrganization({ onClose }: { onClose: () => void }) {
  const { organization } = usePerson();
  const [name, setName] = useState('');
  return (
    <Confirm
      title={`Delete ${showHidden(organization.name)}`}
      action="Delete"
      run={(api) => api.deleteOrganization({ body: { name } })}
      touches={[]}
      isIncomplete={name.trim() !== organization.name}
      onDone={() => window.location.assign(paths.home())}
      onClose={onClose}
      extra={
        <label className="flex flex-col gap-1 text-13">
          Organization name
          <input className="field" autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
      }
    >
      Deletes all sessions, machines and secrets, and removes every member. This cannot be undone. Type the name to
      confirm.
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
      You lose access now and need an invitation to come back. The secrets you issued are revoked, and machines that use
      them stop sending until they are signed in again. Recorded sessions stay with the organization.
    </Confirm>
  );
}
