import { useState } from 'react';
import type { Session, Visibility } from '../../contract/session.ts';
import type { Share } from '../../contract/share.ts';
import { usePerson } from '../app/app.ts';
import { keys, useChange, useSummary } from '../app/queries.ts';
import { Radios } from '../kit/choice.tsx';
import { FormDialog } from './form-dialog.tsx';
import { ShareList, useSharesInForce } from './shares.tsx';

/** Who may see a session. The page of the policy offers the same options. */
export const VISIBILITY_OPTIONS = [
  { value: 'team', label: 'Team', meaning: 'every member reads all of it' },
  {
    value: 'facts',
    label: 'Facts',
    meaning: 'others see repository, branch, files, tools and figures, but no content',
  },
  { value: 'private', label: 'Private', meaning: 'only the person who ran it can see it. Totals still count it' },
] as const;

/** Changes who may see a session: its person decides, or an admin if the session belongs to nobody. */
export function VisibilityDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const { sessionId, eventCount, visibility: known = 'team' } = session;
  const { adminsSeeAll, userId } = usePerson();
  const [chosen, setChosen] = useState<Visibility>(known);
  const change = useChange(
    (api, visibility: Visibility) => api.changeVisibility({ sessionId, body: { visibility } }),
    [keys.session(sessionId), keys.facts(sessionId), keys.allSessions],
  );
  const summary = useSummary(sessionId, eventCount).data;
  const belongsToNobody = summary != null && summary.userId === undefined;
  const remaining = useSharesInForce(sessionId).filter((share) => outlives(share, chosen, userId));
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
      {belongsToNobody && chosen === 'private' && !adminsSeeAll && (
        <p className="text-13 text-warn">
          This session belongs to nobody. If it is private, nobody can see it, and you cannot undo that here, until its
          machine has a person on the page Machines.
        </p>
      )}
      {adminsSeeAll && (
        <p className="text-13 text-muted">
          The policy of this organization lets owners and admins read every session, including private ones.
        </p>
      )}
      {remaining.length > 0 && (
        <section className="border-line border-t pt-3 text-13">
          <p>
            These shares still show the session to others, because a share shows as much as the person who made it sees.
            Revoke what they should not see any more.
          </p>
          <ShareList sessionId={sessionId} shares={remaining} label="Shares that stay" />
        </section>
      )}
    </FormDialog>
  );
}

/** Whether a share still works once the session has this visibility. The caller is the person of the session. */
function outlives({ by, audience, level }: Share, visibility: Visibility, userId: string): boolean {
  if (visibility === 'team' || audience === 'link') return false;
  return by === userId || (visibility === 'facts' && level === 'figures');
}
