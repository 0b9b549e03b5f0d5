import { useState } from 'react';
import type { Policy, PolicyBody, ShownPolicy } from '../../contract/policy.ts';
import { LONGEST_SHARE_DAYS } from '../../contract/share.ts';
import { usePerson } from '../app/app.ts';
import { keys, useChange, usePolicy } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { Radios } from '../kit/choice.tsx';
import { Waiting } from '../kit/notes.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { VISIBILITY_OPTIONS } from '../shared/visibility.tsx';
import { ConfirmRetention, RetentionRules } from './retention-rules.tsx';

/** What an owner decides for all members, who see it here. */
export function PolicyPage() {
  const { data: policy, error, isPending, refetch } = usePolicy();
  return (
    <Page title="Policy" context="Rules of this organization. Every member can read them; owners change them.">
      {isPending && <Waiting label="Loading the policy" rows={4} />}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {policy && <PolicyForm policy={policy} />}
    </Page>
  );
}

function PolicyForm({ policy }: { policy: ShownPolicy }) {
  const isOwner = usePerson().role === 'owner';
  const [chosen, setChosen] = useState<Partial<Policy>>({});
  const { retentionBounds, ...kept } = policy;
  const wanted = { ...kept, ...chosen };
  const save = useChange((api, body: PolicyBody) => api.replacePolicy({ body }), [keys.policy, keys.person]);
  const [isConfirming, setConfirming] = useState(false);
  const isChanged = Object.keys(chosen).length > 0;
  const leave = () => {
    setConfirming(false);
    save.reset();
  };
  // Not before the policy was read again: the old one would be shown for a moment.
  const saveAll = () =>
    save.mutate(wanted, {
      onSuccess: () => {
        setChosen({});
        setConfirming(false);
      },
    });
  const choose = (change: Partial<Policy>) => setChosen((before) => ({ ...before, ...change }));
  return (
    <>
      <form
        className="max-w-[640px]"
        onSubmit={(event) => {
          event.preventDefault();
          if (chosen.retention) setConfirming(true);
          else saveAll();
        }}
      >
        {!isOwner && <p className="mb-4 text-13 text-muted">Only an owner may change the policy. Ask one.</p>}
        <fieldset className="flex flex-col gap-6" disabled={!isOwner || save.isPending}>
          <legend className="sr-only">Policy</legend>
          <Radios
            legend="Who may sign in a machine"
            options={SIGN_IN}
            value={wanted.signIn}
            onChange={(signIn) => choose({ signIn })}
          />
          <Radios
            legend="Who may see new sessions"
            options={VISIBILITY_OPTIONS}
            value={wanted.visibility}
            onChange={(visibility) => choose({ visibility })}
          />
          <Radios
            legend="Owners and admins read every session"
            options={ADMINS_SEE}
            value={wanted.adminsSeeAll ? 'all' : 'theirs'}
            onChange={(which) => choose({ adminsSeeAll: which === 'all' })}
          />
          <Radios
            legend="Figures by person"
            options={BY_PERSON}
            value={wanted.groupByPerson ? 'shown' : 'not'}
            onChange={(which) => choose({ groupByPerson: which === 'shown', smallestGroup: policy.smallestGroup })}
          />
          {wanted.groupByPerson && (
            <label className="flex flex-col items-start gap-1 text-13">
              Smallest number of people whose figures are shown apart
              <input
                className="field w-24"
                type="number"
                required
                min={2}
                max={1_000}
                defaultValue={policy.smallestGroup}
                onChange={({ target }) => choose({ smallestGroup: target.valueAsNumber })}
              />
            </label>
          )}
          <Radios
            legend="Who looked at a session"
            options={RECORD_VIEWS}
            value={wanted.recordViews ? 'recorded' : 'not'}
            onChange={(recorded) => choose({ recordViews: recorded === 'recorded' })}
          />
          <Radios
            legend="Shares by link"
            options={LINKS}
            value={wanted.linkSharing}
            onChange={(linkSharing) => choose({ linkSharing })}
          />
          <label className="flex flex-col items-start gap-1 text-13">
            Days that a share lasts at most
            <input
              className="field w-24"
              type="number"
              required
              min={1}
              max={LONGEST_SHARE_DAYS}
              defaultValue={policy.shareDays}
              onChange={({ target }) => choose({ shareDays: target.valueAsNumber })}
            />
          </label>
          <RetentionRules
            policy={{ ...wanted, retentionBounds }}
            canChange={isOwner}
            onChange={(retention) => choose({ retention })}
          />
        </fieldset>
        {isOwner && (
          <div className="mt-6 flex flex-col items-start gap-2">
            <Button type="submit" tone="primary" disabled={save.isPending || !isChanged}>
              Save
            </Button>
            <p role="status" className="text-12 text-muted">
              {isChanged ? 'Not saved yet.' : save.isSuccess && 'Saved.'}
            </p>
            {save.isError && !isConfirming && <ErrorNote error={save.error} />}
          </div>
        )}
      </form>
      {isConfirming && (
        <ConfirmRetention
          rules={wanted.retention}
          error={save.error}
          isSaving={save.isPending}
          onSave={saveAll}
          onClose={leave}
        />
      )}
    </>
  );
}

const ADMINS_SEE = [
  { value: 'theirs', label: 'No', meaning: 'they see what every member sees' },
  { value: 'all', label: 'Yes', meaning: 'also private ones. Each page tells every member so' },
] as const;

const BY_PERSON = [
  { value: 'not', label: 'Not shown', meaning: 'the overview and the add-ons count people without their names' },
  { value: 'shown', label: 'Shown', meaning: 'where there are enough people' },
] as const;

const LINKS = [
  { value: 'off', label: 'Off', meaning: 'sessions are shared with members alone; links that were sent end at once' },
  { value: 'on', label: 'On', meaning: 'members share what the whole team may see with anybody who has the link' },
] as const;

const RECORD_VIEWS = [
  { value: 'recorded', label: 'Recorded', meaning: 'the person of the session is shown who looked' },
  { value: 'not', label: 'Not recorded', meaning: 'the page of each session says so' },
] as const;

const SIGN_IN = [
  { value: 'members', label: 'Every member', meaning: 'confirms the sign-in of their own machines' },
  {
    value: 'admins',
    label: 'Owners and admins',
    meaning: 'confirm it for everybody, and give each machine to its person on the page Machines',
  },
] as const;
