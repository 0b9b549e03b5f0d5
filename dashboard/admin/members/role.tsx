import { useState } from 'react';
import { type Member, ROLES, type Role } from '../../../contract/organization.ts';
import { usePerson } from '../../app/app.ts';
import { keys, useChange } from '../../app/queries.ts';
import { Radios } from '../../kit/choice.tsx';
import { showHidden } from '../../kit/text/controls.ts';
import { FormDialog } from '../../shared/form-dialog.tsx';

const MEANINGS: Record<Role, string> = {
  owner: 'manages everything, including other owners',
  admin: 'manages secrets, machines, agents and members',
  member: 'reads sessions',
};

/** The roles that the person may assign, from the least to the most powerful. */
export function useRoles(): readonly { value: Role; meaning: string }[] {
  const { role } = usePerson();
  return ROLES.filter((each) => each !== 'owner' || role === 'owner')
    .toReversed()
    .map((value) => ({ value, meaning: MEANINGS[value] }));
}

/** Owners may also hand over their own role. */
const SUCCESSOR = { value: 'successor', label: 'owner in your place', meaning: 'and you become an admin' } as const;

type Choice = Role | 'successor';

export function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }) {
  const { role: ownRole } = usePerson();
  const { userId, email, status } = member;
  const [chosen, setChosen] = useState<Choice>(member.role);
  const change = useChange(
    (api, choice: Choice): Promise<unknown> =>
      choice === 'successor'
        ? api.passOwnership({ body: { userId } })
        : api.changeRole({ userId, body: { role: choice } }),
    [keys.members, keys.person],
  );
  const maySucceed = ownRole === 'owner' && status === 'active';
  return (
    <FormDialog
      title={`Role of ${showHidden(email)}`}
      action={chosen === 'successor' ? 'Pass ownership on' : 'Change role'}
      error={change.error}
      isBlocked={change.isPending || chosen === member.role}
      onSubmit={() => change.mutate(chosen, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Radios<Choice>
        legend="Role"
        options={[...useRoles(), ...(maySucceed ? [SUCCESSOR] : [])]}
        value={chosen}
        onChange={setChosen}
      />
    </FormDialog>
  );
}
