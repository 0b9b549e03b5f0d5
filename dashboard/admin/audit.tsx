import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { AuditAction, AuditEntry, AuditParty } from '../../contract/audit.ts';
import { useApp, useIsAdmin } from '../app/app.ts';
import { keys, useEnvironments, useMembers, useSecrets } from '../app/queries.ts';
import type { AuditSearch } from '../app/search.ts';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { Waiting } from '../kit/notes.tsx';
import { FIRST_ROWS, Table } from '../kit/table.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { nameOfEnvironment } from '../shared/environment-name.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { nameOfSecret } from '../shared/secret-name.ts';

const WORDS: Record<AuditAction, string> = {
  'organization.created': 'created the organization',
  'organization.renamed': 'renamed the organization',
  'organization.owner_changed': 'named the owner',
  'policy.changed': 'changed the policy',
  'directory.token_issued': 'issued the token of the directory',
  'directory.token_revoked': 'revoked the token of the directory',
  'member.invited': 'invited',
  'member.invitation_accepted': 'accepted the invitation',
  'member.role_changed': 'changed the role of',
  'member.invitation_ended': 'ended by joining elsewhere or leaving the service: the invitation of',
  'member.removed': 'removed',
  'member.left': 'left',
  'member.signed_in': 'signed in',
  'member.sessions_handed_over': 'handed over the machines and sessions of',
  'member.sessions_deleted': 'had the sessions deleted of',
  'secret.issued': 'issued the secret',
  'secret.revoked': 'revoked the secret',
  'machine.sign_in_approved': 'let the machine sign in',
  'machine.sign_in_denied': 'refused the machine',
  'machine.registered': 'registered the machine',
  'machine.revoked': 'revoked the machine',
  'machine.claimed': 'claimed the machine',
  'machine.person_changed': 'changed whose the machine is:',
  'agent.installed': 'installed the agent',
  'agent.changed': 'changed the agent',
  'session.deleted': 'deleted the session',
  'session.removed': 'removed the last of the session',
  'session.deletion_refused': 'could not delete the session',
  'session.expired': 'deleted sessions by their age in',
  'session.deletion_forgotten': 'allowed to capture again',
  'hold.placed': 'placed the hold',
  'hold.released': 'released the hold',
  'session.visibility_changed': 'changed who may see the session',
};

const ACTIONS = Object.keys(WORDS) as AuditAction[];
const isAction = (word: string): word is AuditAction => Object.hasOwn(WORDS, word);

/** Who did what in the organization. */
export function AuditPage() {
  const isAdmin = useIsAdmin();
  const { action: given = '', actor } = useSearch({ from: '/audit' });
  const action = isAction(given) ? given : undefined;
  const navigate = useNavigate({ from: '/audit' });
  const { data: members = [], error, refetch } = useMembers();
  const isUnknown = actor && members.every(({ userId }) => userId !== actor);
  const filter = (change: AuditSearch) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <Page title="Audit log">
      {isAdmin ? (
        <div className="flex flex-col gap-4">
          <div className="flex flex-wrap gap-2 text-13">
            <select
              className="field w-auto max-w-full"
              aria-label="Action"
              value={action ?? ''}
              onChange={({ target }) => filter({ action: target.value || undefined })}
            >
              <option value="">Every action</option>
              {ACTIONS.map((each) => (
                <option key={each} value={each}>
                  {WORDS[each]}
                </option>
              ))}
            </select>
            <select
              className="field w-auto max-w-full"
              aria-label="Person"
              value={actor ?? ''}
              onChange={({ target }) => filter({ actor: target.value || undefined })}
            >
              <option value="">Everybody</option>
              {members.map(({ userId, email }) => (
                <option key={userId} value={userId}>
                  {showHidden(email)}
                </option>
              ))}
              {isUnknown && <option value={actor}>{showHidden(actor)}</option>}
            </select>
          </div>
          {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
          <Entries action={action} actor={actor} />
        </div>
      ) : (
        <p className="text-muted">Only an owner or an admin may read the audit log. Ask one.</p>
      )}
    </Page>
  );
}

function Entries({ action, actor }: { action?: AuditAction | undefined; actor?: string | undefined }) {
  const { api } = useApp();
  const { data, error, isPending, refetch, ...next } = useInfiniteQuery({
    queryKey: [...keys.audit, action, actor],
    queryFn: async ({ pageParam, signal }) =>
      (
        await api.listAudit({
          query: {
            limit: String(FIRST_ROWS),
            ...(action && { action }),
            ...(actor && { actor }),
            ...(pageParam && { cursor: pageParam }),
          },
          signal,
        })
      ).body,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
  if (isPending) return <Waiting label="Loading the audit log" rows={8} />;
  if (!data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  const entries = data.pages.flatMap((page) => page.entries);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = next;
  if (entries.length === 0) return <p className="text-13 text-muted">No entry matches.</p>;
  return (
    <>
      <Table
        name="Audit log"
        isWhole
        rows={entries}
        keyOf={({ sequence }) => String(sequence)}
        columns={[
          { head: 'Who', cell: ({ actor: who }) => <Party party={who} /> },
          { head: 'Did', cell: (entry) => <Deed entry={entry} /> },
          { head: 'When', isMuted: true, cell: ({ at }) => <Ago time={at} /> },
          { head: 'Entry', isMuted: true, isNumber: true, label: 'entry', cell: ({ sequence }) => sequence },
        ]}
      />
      {error && (
        <ErrorNote
          error={error}
          isRetrying={isFetchingNextPage}
          onRetry={() => void (isFetchNextPageError ? fetchNextPage() : refetch())}
        />
      )}
      {hasNextPage && !isFetchNextPageError && (
        <div>
          <Button size="small" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show earlier entries
          </Button>
        </div>
      )}
    </>
  );
}

/** Actions that say everything without their target. */
const WHOLE = new Set<AuditAction>([
  'organization.created',
  'organization.renamed',
  'policy.changed',
  'directory.token_issued',
  'directory.token_revoked',
  'member.invitation_accepted',
  'member.left',
  'member.signed_in',
  'session.expired',
]);

function Deed({ entry: { action, target, details = {} } }: { entry: AuditEntry }) {
  const { data: members } = useMembers();
  const nameOf = (value: string | number | boolean) =>
    members?.find(({ userId }) => userId === value)?.email ?? String(value);
  return (
    <>
      {WORDS[action]} {!WHOLE.has(action) && <Party party={target} />}{' '}
      <span className="text-muted">{showHidden(wordDetails(details, nameOf))}</span>
    </>
  );
}

type Details = NonNullable<AuditEntry['details']>;

function wordDetails({ from, to, role, ...others }: Details, nameOf: (value: Details[string]) => string): string {
  const change = from === undefined ? [] : [`from ${nameOf(from)} to ${nameOf(to ?? '')}`];
  const given = role === undefined ? [] : [`as ${role}`];
  return [...change, ...given, ...Object.entries(others).map(([name, value]) => `${name} ${value}`)].join(', ');
}

/** By its name while there is one: the log itself knows ids alone. */
function Party({ party: { kind, id } }: { party: AuditParty }) {
  const { data: members } = useMembers();
  const member = members?.find(({ userId }) => userId === id);
  const secret = useSecrets().data?.find(({ secretId }) => secretId === id);
  const machine = useEnvironments().data?.find(({ environmentId }) => environmentId === id);
  if (member) {
    return (
      <Link to="/members/$userId" params={{ userId: id }} className="row-link">
        {showHidden(member.email)}
      </Link>
    );
  }
  if (kind === 'directory') return <>the directory</>;
  if (secret) return <>{nameOfSecret(secret)}</>;
  if (machine) return <>{nameOfEnvironment(machine)}</>;
  const shown = <code className="text-12">{showHidden(id)}</code>;
  // Only who is a member now is known: without that, the person may well be one.
  if (kind !== 'person' || !members) return shown;
  return <span className="text-muted">a former member {shown}</span>;
}
