import { Link, useParams } from '@tanstack/react-router';
import { paths } from '../../contract/pages.ts';
import { useMachineHealth, useMembers, useSessions } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { formatExact } from '../kit/format.ts';
import { Waiting } from '../kit/notes.tsx';
import { Ago } from '../kit/time.tsx';
import { nameOfEnvironment } from '../shared/environment-name.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { Health } from '../shared/machine-health.tsx';
import { nameOfSecret } from '../shared/secret-name.ts';
import { titleOf } from '../shared/session-title.ts';
import { SessionsOf } from '../shared/sessions-of.tsx';
import { StatusMark } from '../shared/status-mark.tsx';
import { useIssuedBy } from './issued-by.ts';

const FEW = 10;

/** A member with their machines, secrets and latest sessions. */
export function MemberPage() {
  const { userId } = useParams({ from: '/members/$userId' });
  const members = useMembers();
  const member = members.data?.find((each) => each.userId === userId);
  if (members.isPending) return <Waiting label="Loading the member" rows={4} />;
  if (members.isError) return <ErrorNote error={members.error} onRetry={() => void members.refetch()} />;
  if (!member) {
    return (
      <Page title="No such member" context="They may have left or been removed.">
        <Link to={paths.members()} className="link">
          See the members
        </Link>
      </Page>
    );
  }
  const since = Date.parse(member.joinedAt ?? member.createdAt);
  return (
    <Page title={member.email} context={`${member.role} · ${member.status} since ${formatExact(since)}`}>
      <div className="flex flex-col gap-8">
        <Issued userId={userId} />
        <Sessions userId={userId} />
      </div>
    </Page>
  );
}

function Issued({ userId }: { userId: string }) {
  const { secrets, machines } = useIssuedBy(userId);
  const health = useMachineHealth().data;
  return (
    <>
      <section aria-labelledby="machines">
        <h2 id="machines" className="mb-1 text-14">
          Machines
        </h2>
        {machines.length === 0 && <p className="text-13 text-muted">No machines.</p>}
        <ul className="text-13">
          {machines.map((machine) => (
            <li key={machine.environmentId} className="flex min-h-8 items-center gap-3 border-line border-b">
              <SessionsOf of={{ machine: machine.environmentId }}>{nameOfEnvironment(machine)}</SessionsOf>
              <Health health={health?.get(machine.environmentId)} />
              <span className="ml-auto flex-none text-muted">
                <Ago time={machine.lastSeenAt} />
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="secrets">
        <h2 id="secrets" className="mb-1 text-14">
          Secrets they issued
        </h2>
        {secrets.length === 0 && <p className="text-13 text-muted">None.</p>}
        <ul className="text-13">
          {secrets.map((secret) => (
            <li key={secret.secretId} className="flex min-h-8 items-center gap-3 border-line border-b">
              <SessionsOf of={{ secret: secret.secretId }} plane={secret.secretEnvironment}>
                {nameOfSecret(secret)}
              </SessionsOf>
              {secret.status === 'revoked' && <span className="text-muted">revoked</span>}
              <span className="ml-auto flex-none text-muted">
                {secret.lastUsedAt ? <Ago time={secret.lastUsedAt} /> : 'never used'}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

function Sessions({ userId }: { userId: string }) {
  const sessions = useSessions({ q: `person:${userId}` }, FEW);
  const rows = sessions.data?.pages.flatMap((page) => page.sessions).slice(0, FEW) ?? [];
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions" className="mb-1 text-14">
        Latest sessions
      </h2>
      {sessions.isSuccess && !sessions.hasNextPage && rows.length === 0 && (
        <p className="text-13 text-muted">
          No sessions yet. They appear here once an agent runs on a machine of this member.
        </p>
      )}
      <ul className="text-13">
        {rows.map(({ session, summary }) => (
          <li key={session.sessionId} className="flex min-h-8 items-center gap-2 border-line border-b">
            <StatusMark session={session} summary={summary} />
            <Link
              to="/sessions/$sessionId"
              params={{ sessionId: session.sessionId }}
              className="row-link min-w-0 grow truncate"
            >
              {titleOf(session, summary)}
            </Link>
            <span className="flex-none text-muted">
              <Ago time={session.startedAt} />
            </span>
          </li>
        ))}
      </ul>
      {rows.length > 0 && (
        <p className="mt-2 text-13">
          <SessionsOf of={{ person: userId }}>All their sessions</SessionsOf>
        </p>
      )}
    </section>
  );
}
