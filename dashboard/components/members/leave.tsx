import { useState } from 'react';
import type { Member } from '../../../contract/organization.ts';
import { useApp, usePerson } from '../../app.ts';
import { paths } from '../../paths.ts';
import { keys, useSecrets } from '../../queries.ts';
import { showHidden } from '../../text/controls.ts';
import { Confirm } from '../confirm.tsx';

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
        ? 'Whoever signs in with this e-mail belongs to no organization then. You can invite it again.'
        : 'They can look at nothing here from now on. What was captured stays.'}
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
      Your e-mail, your membership and your sign-ins are deleted, and the secrets that you issued are revoked. What was
      captured stays with the organization. An account at another identity provider stays there.
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
          The name of the organization
          <input className="field" autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
      }
    >
      All sessions, machines and secrets are deleted, and nobody belongs to it any more. It cannot be undone. Type its
      name to go on.
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
