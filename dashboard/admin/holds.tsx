import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { Hold, HoldTarget, PlaceHoldBody } from '../../contract/hold.ts';
import { useIsAdmin } from '../app/app.ts';
import { keys, useChange, useHolds, useMembers } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { plural } from '../kit/format.ts';
import { Empty } from '../kit/notes.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { Confirm } from '../shared/confirm.tsx';
import { FormDialog } from '../shared/form-dialog.tsx';
import { PersonLink } from '../shared/person-name.tsx';
import { RepositoryList } from '../shared/repository-name.tsx';
import { ResourcePage } from './resource-page.tsx';

/** The kinds of holds: their names, and the field for an id. */
const KINDS: Record<HoldTarget['kind'], { word: string; asks?: string; example?: string }> = {
  session: { word: 'a session', asks: 'Id of the session', example: 'ses_…' },
  person: { word: 'a person' },
  repository: { word: 'a repository', asks: 'Repository, such as owner/name', example: 'github.com/owner/name' },
  everything: { word: 'everything' },
};
const NAMES = Object.keys(KINDS) as HoldTarget['kind'][];

/** Legal holds: data that nobody and nothing may delete. */
export function HoldsPage() {
  return useIsAdmin() ? (
    <Holds />
  ) : (
    <Page title="Legal holds">
      <p className="text-muted">Only an owner or an admin may read the legal holds. Ask one.</p>
    </Page>
  );
}

function Holds() {
  const { session } = useSearch({ from: '/holds' });
  const navigate = useNavigate({ from: '/holds' });
  const [isPlacing, setPlacing] = useState(session !== undefined);
  const [releasing, setReleasing] = useState<Hold>();
  const leave = () => {
    setPlacing(false);
    // Otherwise a reload of the page would open the dialog again.
    if (session !== undefined) void navigate({ search: {}, replace: true });
  };
  return (
    <ResourcePage
      title="Legal holds"
      actions={
        <Button tone="primary" onClick={() => setPlacing(true)}>
          <Plus size={16} aria-hidden /> Place a hold
        </Button>
      }
      query={useHolds()}
      empty={
        <Empty title="Nothing is held">
          <p>Before a lawsuit or an audit, place a hold on a session, a person, a repository or everything.</p>
        </Empty>
      }
      wordsOf={({ holdId, target, reason }) => `${holdId} ${target.kind} ${target.id} ${reason}`}
      keyOf={({ holdId }) => holdId}
      isMuted={({ releasedAt }) => releasedAt !== undefined}
      columns={[
        { head: 'Held', wraps: true, cell: ({ target }) => <Target target={target} /> },
        {
          head: 'Reason',
          wraps: true,
          cell: ({ holdId, reason }) => (
            <>
              {showHidden(reason)} <code className="block text-12 text-muted [overflow-wrap:anywhere]">{holdId}</code>
            </>
          ),
        },
        { head: 'Placed', label: 'placed', isMuted: true, cell: ({ placedAt }) => <Ago time={placedAt} /> },
        { head: 'By', label: 'by', wraps: true, cell: ({ placedBy }) => <PersonLink userId={placedBy} /> },
        { head: 'State', wraps: true, cell: (hold) => <State hold={hold} /> },
        {
          head: 'Actions',
          isActions: true,
          cell: (hold) =>
            hold.releasedAt === undefined && (
              <Button size="small" onClick={() => setReleasing(hold)}>
                Release
              </Button>
            ),
        },
      ]}
    >
      {isPlacing && <PlaceHold sessionId={session} onClose={leave} />}
      {releasing && (
        <Confirm
          title="Release this hold"
          action="Release"
          run={(api) => api.releaseHold({ holdId: releasing.holdId })}
          touches={[keys.holds, keys.allFacts]}
          onDone={() => setReleasing(undefined)}
          onClose={() => setReleasing(undefined)}
        >
          Sessions that it holds can be deleted again, and those past their retention period expire within the hour. The
          hold stays in this list.
        </Confirm>
      )}
    </ResourcePage>
  );
}

function State({ hold: { releasedAt, releasedBy, sessions } }: { hold: Hold }) {
  if (!releasedAt) return <>in force{sessions !== undefined && `, ${plural(sessions, 'session')} now`}</>;
  return (
    <>
      released <Ago time={releasedAt} />
      {releasedBy && (
        <>
          {' by '}
          <PersonLink userId={releasedBy} />
        </>
      )}
    </>
  );
}

function PlaceHold({ sessionId, onClose }: { sessionId: string | undefined; onClose: () => void }) {
  const [kind, setKind] = useState<HoldTarget['kind']>('session');
  const place = useChange((api, body: PlaceHoldBody) => api.placeHold({ body }), [keys.holds, keys.allFacts]);
  const { asks, example } = KINDS[kind];
  return (
    <FormDialog
      title="Place a hold"
      action="Place"
      error={place.error}
      isBlocked={place.isPending}
      onSubmit={(form) => {
        const target = kind === 'everything' ? { kind } : { kind, id: String(form.get('id')).trim() };
        void place.mutateAsync({ target, reason: String(form.get('reason')).trim() }).then(onClose, () => undefined);
      }}
      onClose={onClose}
    >
      <label className="flex flex-col gap-1 text-13">
        What is held
        <select
          className="field"
          value={kind}
          onChange={({ target }) => setKind(NAMES.find((name) => name === target.value) ?? 'session')}
        >
          {NAMES.map((name) => (
            <option key={name} value={name}>
              {KINDS[name].word}
            </option>
          ))}
        </select>
      </label>
      {kind === 'person' && <PersonChoice />}
      {kind === 'repository' && <RepositoryList id={LIST} />}
      {asks !== undefined && (
        <label className="flex flex-col gap-1 text-13">
          {asks}
          <input
            key={kind}
            name="id"
            className="field"
            required
            maxLength={1000}
            placeholder={example}
            list={kind === 'repository' ? LIST : undefined}
            defaultValue={kind === 'session' ? sessionId : undefined}
          />
        </label>
      )}
      <label className="flex flex-col gap-1 text-13">
        Reason, for people who see the hold later
        <input name="reason" className="field" required maxLength={500} />
      </label>
    </FormDialog>
  );
}

const LIST = 'repositories-for-holds';

function PersonChoice() {
  const { data: members = [] } = useMembers();
  return (
    <label className="flex flex-col gap-1 text-13">
      Person
      <select name="id" className="field" required>
        {members.map(({ userId, email }) => (
          <option key={userId} value={userId}>
            {showHidden(email)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Target({ target: { kind, id } }: { target: HoldTarget }) {
  if (id === undefined) return <>{KINDS[kind].word}</>;
  if (kind === 'person') return <PersonLink userId={id} />;
  if (kind === 'repository') return <>{showHidden(id)}</>;
  return (
    <Link to="/sessions/$sessionId" params={{ sessionId: id }} className="row-link">
      <code className="text-12 [overflow-wrap:anywhere]">{showHidden(id)}</code>
    </Link>
  );
}
