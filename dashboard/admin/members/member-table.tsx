import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Member, WaitingInvitation } from '../../../contract/organization.ts';
import { useIsAdmin, usePerson } from '../../app/app.ts';
import { keys, useChange, useInvitations } from '../../app/queries.ts';
import { Button } from '../../kit/button.tsx';
import { formatExact, formatLeft } from '../../kit/format.ts';
import { showHidden } from '../../kit/text/controls.ts';
import { Ago, useNow } from '../../kit/time.tsx';
import { ErrorNote } from '../../shared/error-note.tsx';
import { ResourceTable } from '../../shared/resource-table.tsx';
import { SessionsOf } from '../../shared/sessions-of.tsx';
import { personOf } from '../issued-by.ts';

/** What the person has begun to do with a member. */
export type Doing = { what: 'role' | 'remove'; member: Member } | { what: 'leave' };

interface Props {
  members: UseQueryResult<Member[]>;
  onDo: (doing: Doing) => void;
}

export function MemberTable({ members, onDo }: Props) {
  const invitations = useInvitations();
  const repeat = useChange((api, userId: string) => api.repeatInvitation({ userId }), [keys.invitations]);
  return (
    <div className="flex flex-col gap-4">
      {repeat.isError && <ErrorNote error={repeat.error} />}
      {invitations.isError && <ErrorNote error={invitations.error} onRetry={() => void invitations.refetch()} />}
      <ResourceTable name="Members" query={members} heads={['E-mail', 'Role', 'Status', 'Since', 'Sessions']}>
        {(member) => (
          <MemberRow
            key={member.userId}
            member={member}
            invitation={invitations.data?.get(member.userId)}
            isRepeating={repeat.isPending && repeat.variables === member.userId}
            onRepeat={() => repeat.mutate(member.userId)}
            onDo={onDo}
          />
        )}
      </ResourceTable>
    </div>
  );
}

interface RowProps {
  member: Member;
  invitation: WaitingInvitation | undefined;
  isRepeating: boolean;
  onRepeat: () => void;
  onDo: (doing: Doing) => void;
}

function MemberRow({ member, invitation, isRepeating, onRepeat, onDo }: RowProps) {
  const { userId: own, role: ownRole } = usePerson();
  const isAdmin = useIsAdmin();
  const { userId, email, role, status, joinedAt, createdAt } = member;
  const isOwn = userId === own;
  const person = personOf(member);
  const shown = showHidden(email);
  const mayChange = isAdmin && !isOwn && (role !== 'owner' || ownRole === 'owner');
  const isInvited = status === 'invited';
  return (
    <tr>
      <td className="font-medium">
        <Link to="/members/$userId" params={{ userId }} className="row-link">
          {shown}
        </Link>
        {isOwn && <span className="font-normal text-muted"> (you)</span>}
      </td>
      <td>{role}</td>
      <td className={isInvited ? 'text-muted' : ''}>
        {status}
        {invitation && <MailState invitation={invitation} />}
      </td>
      <td className="text-muted" data-label="since">
        <Ago time={joinedAt ?? createdAt} />
      </td>
      <td>
        <SessionsOf of={{ person }}>person:{showHidden(person)}</SessionsOf>
      </td>
      <td className="text-right">
        <span className="inline-flex gap-2">
          {isOwn && (
            <Button size="small" tone="danger" onClick={() => onDo({ what: 'leave' })}>
              Leave
            </Button>
          )}
          {mayChange && isInvited && (
            <Button size="small" disabled={isRepeating} aria-label={`Send again to ${shown}`} onClick={onRepeat}>
              Send again
            </Button>
          )}
          {mayChange && (
            <Button size="small" aria-label={`Change role of ${shown}`} onClick={() => onDo({ what: 'role', member })}>
              Change role
            </Button>
          )}
          {mayChange && (
            <Button
              size="small"
              tone="danger"
              aria-label={`${isInvited ? 'Withdraw the invitation of' : 'Remove'} ${shown}`}
              onClick={() => onDo({ what: 'remove', member })}
            >
              {isInvited ? 'Withdraw' : 'Remove'}
            </Button>
          )}
        </span>
      </td>
    </tr>
  );
}

/** What became of the mail: a link that has expired, or was never sent, admits nobody until it is sent again. */
function MailState({ invitation: { mailedAt, expiresAt } }: { invitation: WaitingInvitation }) {
  const now = useNow();
  if (mailedAt === undefined) return <span className="text-bad"> · not mailed</span>;
  if (expiresAt === undefined) return null;
  const end = Date.parse(expiresAt);
  const title = formatExact(end);
  return end <= now ? (
    <time className="text-warn" dateTime={expiresAt} title={title}>
      {' · link expired'}
    </time>
  ) : (
    <time dateTime={expiresAt} title={title}>{` · ${formatLeft(end, now)} left`}</time>
  );
}
