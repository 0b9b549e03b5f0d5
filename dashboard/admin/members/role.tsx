import { useState } from 'react';
import { type Member, ROLES, type Role } from '../../../contract/organization.ts';
import { usePerson } from '../../app/app.ts';
import { keys, useChange } from '../../app/queries.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog, DialogActions } from '../../kit/dialog.tsx';
import { showHidden } from '../../kit/text/controls.ts';
import { ErrorNote } from '../../shared/error-note.tsx';

const MEANINGS: Record<Role, string> = {
  owner: 'everything, and naming other owners',
  admin: 'secrets, environments, agents and members',
  member: 'looking at sessions',
};

/** The roles that the person may give, the least first. */
export function useRoles(): readonly Role[] {
  const { role } = usePerson();
  return ROLES.filter((each) => each !== 'owner' || role === 'owner').toReversed();
}

interface ChoiceProps<Choice extends string> {
  choices: readonly Choice[];
  chosen: Choice;
  label?: (choice: Choice) => string;
  meaning?: (choice: Choice) => string;
  onChoose: (choice: Choice) => void;
}

export function RoleChoice<Choice extends string = Role>(props: ChoiceProps<Choice>) {
  const { choices, chosen, label, meaning, onChoose } = props;
  return (
    <fieldset className="flex flex-col gap-2 text-13">
      <legend className="mb-1">Role</legend>
      {choices.map((each) => (
        <label key={each} className="flex items-start gap-2">
          <input className="mt-1" type="radio" name="role" checked={chosen === each} onChange={() => onChoose(each)} />
          <span>
            {label?.(each) ?? each} <span className="text-muted">{meaning?.(each) ?? MEANINGS[each as Role]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Owners may also hand their own place over. */
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
  const roles = useRoles();
  const choices: Choice[] = maySucceed ? [...roles, 'successor'] : [...roles];
  return (
    <Dialog title={`Role of ${showHidden(email)}`} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(chosen, { onSuccess: onClose });
        }}
      >
        <RoleChoice
          choices={choices}
          chosen={chosen}
          label={(each) => (each === 'successor' ? 'owner in your place' : each)}
          meaning={(each) => (each === 'successor' ? 'and you become an admin' : MEANINGS[each])}
          onChoose={setChosen}
        />
        {change.isError && <ErrorNote error={change.error} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={change.isPending || chosen === member.role}>
            {chosen === 'successor' ? 'Pass ownership on' : 'Change role'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
