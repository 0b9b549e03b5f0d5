import { useState } from 'react';
import { paths } from '../../../contract/pages.ts';
import { useApp, usePerson } from '../../app/app.ts';
import { forgetMembership } from '../../app/membership.ts';
import { noteLeft } from '../../app/tabs.ts';
import { hrefOf } from '../../kit/base-path.ts';
import { showHidden } from '../../kit/text/controls.ts';
import { Confirm } from '../../shared/confirm.tsx';

const UNREAD = 'Private sessions stay private; to leave one to the team, first change who may see it.';

/** Deletes the data about the signed-in person. */
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
      Deletes your e-mail address, membership and sign-ins, and revokes the secrets that you issued or that your
      machines have, and the token of the directory if you issued it. Recorded sessions stay with the organization.{' '}
      {UNREAD} An account at another identity provider stays there.
    </Confirm>
  );
}

/** Deletes the organization and all its data, once the person has typed its name. */
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
        noteLeft();
      }}
      touches={[]}
      isIncomplete={name.trim() !== organization.name}
      onDone={() => window.location.assign(hrefOf(paths.home()))}
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
        noteLeft();
      }}
      touches={[]}
      // A reload, so that the page keeps nothing from the organization.
      onDone={() => window.location.assign(hrefOf(paths.home()))}
      onClose={onClose}
    >
      You lose access now and need an invitation to come back. The secrets that you issued or that your machines have
      are revoked: machines that use them stop sending until they are signed in again. So is the token of the directory,
      if you issued it. Recorded sessions stay with the organization. {UNREAD}
    </Confirm>
  );
}
