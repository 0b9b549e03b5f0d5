import { useState } from 'react';
import type { Role } from '../../../contract/organization.ts';
import { keys, useChange } from '../../app/queries.ts';
import { Radios } from '../../kit/choice.tsx';
import { FormDialog } from '../../shared/form-dialog.tsx';
import { useRoles } from './role.tsx';

export function Invite({ onClose }: { onClose: () => void }) {
  const [role, setRole] = useState<Role>('member');
  const invite = useChange((api, body: { email: string; role: Role }) => api.inviteMember({ body }), [keys.members]);
  return (
    <FormDialog
      title="Invite a person"
      action="Invite"
      error={invite.error}
      isBlocked={invite.isPending}
      onSubmit={(form) => invite.mutate({ email: String(form.get('email')).trim(), role }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <label className="flex flex-col gap-1 text-13">
        E-mail
        <input name="email" className="field" type="email" required />
      </label>
      <Radios legend="Role" options={useRoles()} value={role} onChange={setRole} />
    </FormDialog>
  );
}
