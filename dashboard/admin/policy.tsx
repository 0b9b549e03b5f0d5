import { useState } from 'react';
import type { Policy, PolicyBody, ShownPolicy } from '../../contract/policy.ts';
import { MAX_SHARE_DAYS } from '../../contract/share.ts';
import { usePerson } from '../app/app.ts';
import { keys, useChange, usePolicy } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { Radios } from '../kit/choice.tsx';
import { Waiting } from '../kit/notes.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { VISIBILITY_OPTIONS } from '../shared/visibility.tsx';
import { ADMINS_SEE, BY_PERSON, LINKS, RECORD_VIEWS, SIGN_IN, wordPolicyField } from './policy-words.ts';
import { ConfirmRetention, RetentionRules } from './retention-rules.tsx';

/** The policy: owners decide it, and all members can read it here. */
export function PolicyPage() {
  const { data: policy, error, isPending, refetch } = usePolicy();
  return (
    <Page title="Policy">
      {isPending && <Waiting label="Loading the policy" rows={4} />}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {policy && <PolicyForm policy={policy} />}
    </Page>
  );
}

function PolicyForm({ policy }: { policy: ShownPolicy }) {
  const isOwner = usePerson().role === 'owner';
  const [chosen, setChosen] = useState<Partial<Policy>>({});
  const { retentionBounds, retentionWaits, ...kept } = policy;
  const wanted = { ...kept, ...chosen };
  const save = useChange((api, body: PolicyBody) => api.replacePolicy({ body }), [keys.policy, keys.person]);
  const [isConfirming, setConfirming] = useState(false);
  /** Fields keep the typed text. Another edition resets them. */
  const [edition, setEdition] = useState(0);
  const changed = Object.entries(chosen).flatMap(([field, value]) =>
    JSON.stringify(value) === JSON.stringify(kept[field as keyof Policy]) ? [] : [field],
  );
  const isChanged = changed.length > 0;
  const leave = () => {
    setConfirming(false);
    save.reset();
  };
  // Runs once the policy has been read again; otherwise the old policy would be shown for a moment.
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
          if (changed.includes('retention')) setConfirming(true);
          else saveAll();
        }}
      >
        {!isOwner && <p className="mb-4 text-13 text-muted">Only an owner may change the policy. Ask one.</p>}
        <fieldset key={edition} className="flex flex-col gap-6" disabled={!isOwner || save.isPending}>
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
              Smallest number of people whose figures are shown by name
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
            Longest duration of a share, in days
            <input
              className="field w-24"
              type="number"
              required
              min={1}
              max={MAX_SHARE_DAYS}
              defaultValue={policy.shareDays}
              onChange={({ target }) => choose({ shareDays: target.valueAsNumber })}
            />
          </label>
          <RetentionRules
            policy={{ ...wanted, retentionBounds, ...(retentionWaits && { retentionWaits }) }}
            canChange={isOwner}
            onChange={(retention) => choose({ retention })}
          />
        </fieldset>
        {isOwner && (
          <div className="sticky bottom-0 mt-6 flex flex-col gap-2 border-t border-line bg-surface py-3">
            {save.isError && !isConfirming && <ErrorNote error={save.error} />}
            <div className="flex flex-wrap items-center gap-2">
              <Button type="submit" tone="primary" disabled={save.isPending || !isChanged}>
                Save
              </Button>
              {isChanged && (
                <Button
                  disabled={save.isPending}
                  onClick={() => {
                    setChosen({});
                    setEdition((before) => before + 1);
                    save.reset();
                  }}
                >
                  Discard
                </Button>
              )}
              <p role="status" className="text-12 text-muted">
                {isChanged ? `Not saved yet: ${changed.map(wordPolicyField).join(', ')}.` : save.isSuccess && 'Saved.'}
              </p>
            </div>
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
