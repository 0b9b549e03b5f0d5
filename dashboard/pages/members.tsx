import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { type Member, ROLES, type Role } from '../../contract/organization.ts';
import { useIsAdmin, usePerson } from '../app.ts';
import { ErrorNote } from '../components/error-note.tsx';
import { Page } from '../components/page.tsx';
import { keys, useChange, useMembers } from '../queries.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Waiting } from '../ui/notes.tsx';
import { Scroll } from '../ui/scroll.tsx';
import { Ago } from '../ui/time.tsx';

export function MembersPage() {
  const members = useMembers();
  const isAdmin = useIsAdmin();
  const [isInviting, setInviting] = useState(false);
  const invite = (
    <Button tone="primary" onClick={() => setInviting(true)}>
      <UserPlus size={16} aria-hidden /> Invite
    </Button>
  );
  return (
    <Page title="Members" context="People who can look at the sessions." actions={isAdmin && invite}>
      {members.isPending && <Waiting label="Loading members" rows={3} />}
      {members.isError && <ErrorNote error={members.error} onRetry={() => void members.refetch()} />}
      {members.data && <MemberTable members={members.data} />}
      {isInviting && <Invite onClose={() => setInviting(false)} />}
    </Page>
  );
}

function MemberTable({ members }: { members: readonly Member[] }) {
  const { userId: own } = usePerson();
  return (
    <Scroll className="overflow-x-auto" aria-label="Members">
      <table className="table">
        <thead>
          <tr>
            <th>E-mail</th>
            <th>Role</th>
            <th>Status</th>
            <th>Since</th>
          </tr>
        </thead>
        <tbody>
          {members.map(({ userId, email, role, status, joinedAt, createdAt }) => (
            <tr key={userId}>
              <td className="font-medium">
                {email}
                {userId === own && <span className="font-normal text-muted"> (you)</span>}
              </td>
              <td>{role}</td>
              <td className={status === 'invited' ? 'text-muted' : ''}>{status}</td>
              <td className="text-muted">
                <Ago time={joinedAt ?? createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const MEANINGS: Record<Role, string> = {
  owner: 'everything, and naming other owners',
  admin: 'secrets, environments, agents and members',
  member: 'looking at sessions',
};

function Invite({ onClose }: { onClose: () => void }) {
  const { role: own } = usePerson();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const invite = useChange((api, body: { email: string; role: Role }) => api.inviteMember({ body }), [keys.members]);
  const roles = ROLES.filter((each) => each !== 'owner' || own === 'owner').toReversed();
  return (
    <Dialog title="Invite a person" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate({ email: email.trim(), role }, { onSuccess: onClose });
        }}
      >
        <label className="flex flex-col gap-1 text-13">
          E-mail
          <input
            className="field"
            type="email"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </label>
        <fieldset className="flex flex-col gap-2 text-13">
          <legend className="mb-1">Role</legend>
          {roles.map((each) => (
            <label key={each} className="flex items-center gap-2">
              <input type="radio" name="role" checked={role === each} onChange={() => setRole(each)} />
              {each}
              <span className="text-muted">{MEANINGS[each]}</span>
            </label>
          ))}
        </fieldset>
        {invite.isError && <ErrorNote error={invite.error} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={invite.isPending}>
            Invite
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
