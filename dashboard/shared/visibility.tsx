import { useState } from 'react';
import type { Session, Visibility } from '../../contract/session.ts';
import { usePerson } from '../app/app.ts';
import { keys, useChange } from '../app/queries.ts';
import { Radios } from '../kit/choice.tsx';
import { FormDialog } from './form-dialog.tsx';

/** Who may see a session, in words that the policy uses as well. */
export const VISIBILITY_OPTIONS = [
  { value: 'team', label: 'Team', meaning: 'every member reads all of it' },
  {
    value: 'facts',
    label: 'Facts',
    meaning: 'others see repository, branch, files, tools and figures, but no words, commands or changes',
  },
  { value: 'private', label: 'Private', meaning: 'only its person sees that it exists. Sums count it' },
] as const;

/** The person of a session says who may see it; an admin does so of one that belongs to nobody. */
export function VisibilityDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const { sessionId, visibility: known = 'team' } = session;
  const { adminsSeeAll } = usePerson();
  const [chosen, setChosen] = useState<Visibility>(known);
  const change = useChange(
    (api, visibility: Visibility) => api.changeVisibility({ sessionId, body: { visibility } }),
    [keys.session(sessionId), keys.facts(sessionId), keys.allSessions],
  );
  return (
    <FormDialog
      title="Who may see this session"
      action="Save"
      error={change.error}
      isBlocked={change.isPending || chosen === known}
      onSubmit={() => change.mutate(chosen, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Radios legend="Visibility" options={VISIBILITY_OPTIONS} value={chosen} onChange={setChosen} />
      {adminsSeeAll && (
        <p className="text-13 text-muted">
          Owners and admins of this organization read every session, private ones included: its policy says so.
        </p>
      )}
    </FormDialog>
  );
}
