import { type ReactNode, useState } from 'react';
import type { Member } from '../../../contract/organization.ts';
import { useApp, usePerson } from '../../app/app.ts';
import { forgetMembership } from '../../app/membership.ts';
import { paths } from '../../app/paths.ts';
import { keys } from '../../app/queries.ts';
import { showHidden } from '../../kit/text/controls.ts';
import { Confirm } from '../../shared/confirm.tsx';
import { nameOfEnvironment } from '../../shared/environment-name.ts';
import { useIssuedBy } from '../issued-by.ts';

interface Props {
  member: Member;
  onClose: () => void;
}

/** Removes a member, or withdraws an invitation: with the secrets they issued, and the machines that were set up with those. */
export function Remove({ member, onClose }: Props) {
  const { userId, status } = member;
  const isInvited = status === 'invited';
  const [isRevoking, setRevoking] = useState(true);
  const [isEnding, setEnding] = useState(false);
  const { secrets, machines } = useIssuedBy(userId);
  const active = secrets.filter((secret) => secret.status === 'active');
  const email = showHidden(member.email);
  const [one, them] = active.length === 1 ? ['secret', 'it'] : ['secrets', 'them'];
  return (
    <Confirm
      title={isInvited ? `Withdraw the invitation of ${email}` : `Remove ${email}`}
      action={isInvited ? 'Withdraw' : 'Remove'}
      run={async (api) => {
        await api.removeMember({ userId, query: { secrets: isRevoking ? 'revoke' : 'keep' } });
        if (isEnding) for (const { environmentId } of machines) await api.revokeEnvironment({ environmentId });
      }}
      touches={[keys.members, keys.secrets, keys.environments]}
      onDone={onClose}
      onClose={onClose}
      extra={
        <>
          {active.length > 0 && (
            <Check isChecked={isRevoking} onChange={setRevoking}>
              Revoke the {active.length === 1 ? 'active secret' : `${active.length} active ${one}`} they issued.
              Machines that use {them} stop sending until they are signed in again.
            </Check>
          )}
          {machines.length > 0 && (
            <Check isChecked={isEnding} onChange={setEnding}>
              Revoke {machines.map(nameOfEnvironment).join(', ')} for good, set up with{' '}
              {secrets.length === 1 ? 'that secret' : 'these secrets'}.
            </Check>
          )}
        </>
      }
    >
      {isInvited
        ? 'The invitation no longer works. You can invite this address again.'
        : `${email} loses access now. Their sessions stay.`}
    </Confirm>
  );
}

interface CheckProps {
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
  children: ReactNode;
}

const Check = ({ isChecked, onChange, children }: CheckProps) => (
  <label className="flex gap-2">
    <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} />
    <span>{children}</span>
  </label>
);

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
      run={async (api) => {
        await api.deleteOrganization({ body: { name } });
        forgetMembership();
      }}
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
      run={async (api) => {
        await api.leaveOrganization({});
        forgetMembership();
      }}
      touches={[]}
      // Loads the page afresh, so that it keeps nothing from the organization.
      onDone={() => window.location.assign(paths.home())}
      onClose={onClose}
    >
      You lose access now and need an invitation to come back. The secrets you issued are revoked, and machines that use
      them stop sending until they are signed in again. Recorded sessions stay with the organization.
    </Confirm>
  );
}
