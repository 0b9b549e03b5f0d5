import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { AuditAction, AuditEntry, AuditParty } from '../../contract/audit.ts';
import type { AuditSearch } from '../../contract/pages.ts';
import { useApp, useIsAdmin } from '../app/app.ts';
import { keys, useEnvironments, useInstallations, useMembers, useSecrets } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { Waiting } from '../kit/notes.tsx';
import { FIRST_ROWS, Table } from '../kit/table.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { agentName } from '../shared/agent-name.tsx';
import { nameOfEnvironment } from '../shared/environment-name.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { useMachineNames } from '../shared/group-names.ts';
import { MemberLink } from '../shared/person-name.tsx';
import { nameOfSecret } from '../shared/secret-name.ts';
import { ACTIONS, isAction, WHOLE, WORDS, wordDetails } from './audit-words.ts';

/** The audit log: who did what in the organization. */
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
          { head: 'Who', wraps: true, cell: ({ actor: who }) => <Party party={who} /> },
          { head: 'Action', wraps: true, cell: (entry) => <Deed entry={entry} /> },
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

const DELETED: ReadonlySet<AuditAction> = new Set<AuditAction>(['session.deleted', 'session.removed']);

function Deed({ entry: { action, target, details = {}, withheld } }: { entry: AuditEntry }) {
  const { data: members } = useMembers();
  const machines = useMachineNames();
  const nameOf = (value: string | number | boolean) =>
    members?.find(({ userId }) => userId === value)?.email ?? machines.get(String(value)) ?? String(value);
  const { on, id, ...others } = details;
  return (
    <>
      {WORDS[action]} {!WHOLE.has(action) && <Party party={target} isGone={DELETED.has(action)} isHidden={withheld} />}{' '}
      {on !== undefined && <span className="text-muted">on {id === undefined ? on : `the ${on}`} </span>}
      {id !== undefined && <Party party={{ kind: String(on), id: String(id) }} isHidden={withheld} />}
      <span className="text-muted">{showHidden(wordDetails(others, nameOf))}</span>
    </>
  );
}

interface PartyProps {
  party: Pick<AuditParty, 'id'> & { kind: string };
  /** The session was deleted: a link would lead nowhere. */
  isGone?: boolean;
  /** The session is private to another person, so its id was withheld. */
  isHidden?: boolean | undefined;
}

/** Shows a name if there is one, or else the id, since the log itself only has ids. */
function Party({ party: { kind, id }, isGone, isHidden }: PartyProps) {
  const { data: members } = useMembers();
  const member = members?.find(({ userId }) => userId === id);
  const secret = useSecrets().data?.find(({ secretId }) => secretId === id);
  const machine = useEnvironments().data?.find(({ environmentId }) => environmentId === id);
  const machines = useMachineNames();
  const installation = useInstallations().data?.find(({ installationId }) => installationId === id);
  if (member) return <MemberLink member={member} />;
  const shown = <code className="text-12">{showHidden(id)}</code>;
  if (kind === 'session' && isHidden) return <span className="text-muted">(private)</span>;
  if (kind === 'session' && !isGone) {
    return (
      <Link to="/sessions/$sessionId" params={{ sessionId: id }} className="row-link">
        {shown}
      </Link>
    );
  }
  if (kind === 'hold') {
    return (
      <Link to="/holds" className="row-link">
        {shown}
      </Link>
    );
  }
  if (kind === 'service' && id === 'operator') return <>the operator of the service</>;
  if (kind === 'directory' || kind === 'service') return <>the {kind}</>;
  if (kind === 'organization') return <>the organization</>;
  if (secret) return <>{nameOfSecret(secret)}</>;
  if (machine) return <>{nameOfEnvironment(machine)}</>;
  if (installation) {
    const { agentId, environmentId } = installation;
    return <>{[agentName(agentId), machines.get(environmentId ?? '')].filter(Boolean).join(' on ')}</>;
  }
  // Members are the only known people. Until their list is loaded, the person may be one of them.
  if (kind !== 'person' || !members) return shown;
  return <span className="text-muted">a former member {shown}</span>;
}
