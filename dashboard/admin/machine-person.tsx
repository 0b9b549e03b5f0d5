import { useState } from 'react';
import type { Environment } from '../../contract/environment.ts';
import { useIsAdmin, usePerson } from '../app/app.ts';
import { keys, useChange, useMembers } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { nameOfEnvironment } from '../shared/environment-name.ts';
import { FormDialog } from '../shared/form-dialog.tsx';
import { useNameOf } from '../shared/person-name.tsx';

interface Props {
  machine: Environment;
}

/** Changes the person of a machine; null: it belongs to nobody. */
const useSetPerson = ({ environmentId }: Environment) =>
  useChange(
    (api, userId: string | null) => api.setMachinePerson({ environmentId, body: { userId } }),
    [keys.environments, keys.allSessions],
  );

/** The person of a machine, or the member who claims it. */
export function MachinePerson({ machine: { userId, claimedBy } }: Props) {
  const nameOf = useNameOf();
  if (userId) return <>{nameOf(userId)}</>;
  if (claimedBy) return <span className="text-muted">claimed by {nameOf(claimedBy)}, an admin has to agree</span>;
  return <span className="text-muted">unclaimed</span>;
}

/** The actions that the signed-in person may take. */
export function PersonActions({ machine, onChoose }: Props & { onChoose: () => void }) {
  const isAdmin = useIsAdmin();
  const own = usePerson().userId;
  const set = useSetPerson(machine);
  const { userId, claimedBy } = machine;
  const name = nameOfEnvironment(machine);
  const button = (words: string, does: () => void) => (
    <Button size="small" aria-label={`${words}: ${name}`} disabled={set.isPending} onClick={does}>
      {words}
    </Button>
  );
  return (
    <>
      {!userId && !claimedBy && button('This is mine', () => set.mutate(own))}
      {isAdmin && !userId && claimedBy && button('Agree', () => set.mutate(claimedBy))}
      {!isAdmin && !userId && claimedBy === own && button('Not mine', () => set.mutate(null))}
      {isAdmin && button('Change person', onChoose)}
      {set.isError && (
        <span role="alert" className="text-bad">
          {set.error.message}
        </span>
      )}
    </>
  );
}

const NOBODY = '';

/** A dialog in which an admin chooses the person of a machine. */
export function ChoosePerson({ machine, onClose }: Props & { onClose: () => void }) {
  const { data: members = [] } = useMembers();
  const nameOf = useNameOf();
  const { userId: known = NOBODY } = machine;
  const [chosen, setChosen] = useState(machine.claimedBy ?? known);
  const set = useSetPerson(machine);
  const active = members.filter(({ status }) => status === 'active');
  return (
    <FormDialog
      title={`Person of ${nameOfEnvironment(machine)}`}
      action="Save"
      error={set.error}
      isBlocked={set.isPending || (chosen === known && !machine.claimedBy)}
      onSubmit={() => set.mutate(chosen === NOBODY ? null : chosen, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p className="text-muted">
        New sessions of the machine belong to this person, and so do earlier sessions that belong to nobody. Sessions
        that it captured for somebody else stay theirs.
      </p>
      <label className="flex flex-col gap-1 text-13">
        Person
        <select className="field" value={chosen} onChange={({ target }) => setChosen(target.value)}>
          <option value={NOBODY}>Nobody</option>
          {known !== NOBODY && active.every(({ userId }) => userId !== known) && (
            <option value={known}>{nameOf(known)}</option>
          )}
          {active.map(({ userId, email }) => (
            <option key={userId} value={userId}>
              {showHidden(email)}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}
