import { useState } from 'react';
import type { Role } from '../../../contract/organization.ts';
import { keys, useChange } from '../../app/queries.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog, DialogActions } from '../../kit/dialog.tsx';
import { ErrorNote } from '../../shared/error-note.tsx';
import { RoleChoice, useRoles } from './role.tsx';

export function Invite({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const invite = useChange((api, body: { email: string; role: Role }) => api.inviteMember({ body }), [keys.members]);
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
        <RoleChoice choices={useRoles()} chosen={role} onChoose={setRole} />
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
