import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { Member, Role, WaitingInvitation } from '../../contract/organization.ts';
import { useIsAdmin, usePerson } from '../app/app.ts';
import { keys, useChange, useInvitations, useMembers } from '../app/queries.ts';
import { useHash } from '../app/use-hash.ts';
import { Button } from '../kit/button.tsx';
import { Radios } from '../kit/choice.tsx';
import { formatExact, formatLeft } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { Ago, useNow } from '../kit/time.tsx';
import { FormDialog } from '../shared/form-dialog.tsx';
import { MemberLink, useNameOf } from '../shared/person-name.tsx';
import { SessionsOf } from '../shared/sessions-of.tsx';
import { DirectorySection } from './members/directory.tsx';
import { Leave } from './members/leave.tsx';
import { Remove } from './members/remove.tsx';
import { ChangeRole, useRoles } from './members/role.tsx';
import { ResourcePage } from './resource-page.tsx';

/** The dialog that is open. */
type Doing = { what: 'role' | 'remove'; member: Member } | { what: 'leave' | 'invite' };

export function MembersPage() {
  const { userId: own, role } = usePerson();
  const nameOf = useNameOf();
  const isAdmin = useIsAdmin();
  const invitations = useInvitations();
  const repeat = useChange((api, userId: string) => api.repeatInvitation({ userId }), [keys.invitations]);
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  useHash('invite', () => isAdmin && setDoing({ what: 'invite' }));
  return (
    <ResourcePage
      title="Members"
      actions={
        isAdmin && (
          <Button tone="primary" onClick={() => setDoing({ what: 'invite' })}>
            <UserPlus size={16} aria-hidden /> Invite
          </Button>
        )
      }
      query={useMembers()}
      failed={repeat.error ?? invitations.error}
      onRetry={repeat.error ? undefined : () => void invitations.refetch()}
      wordsOf={({ email, role, status }) => `${email} ${role} ${status}`}
      above={<OutboxNote invitations={invitations.data} />}
      keyOf={({ userId }) => userId}
      columns={[
        {
          head: 'E-mail',
          wraps: true,
          cell: ({ userId, email, status }) => (
            <>
              <strong>
                <MemberLink member={{ userId, email }} />
              </strong>
              {userId === own && <span className="text-muted"> (you)</span>}
              {status === 'invited' && <span className="text-muted"> invited</span>}
              <MailState invitation={invitations.data?.get(userId)} />
            </>
          ),
        },
        { head: 'Role', cell: ({ role }) => role },
        {
          head: 'Since',
          isMuted: true,
          cell: ({ status, joinedAt, createdAt }) => (
            <>
              {status === 'invited' ? 'invited' : 'joined'} <Ago time={joinedAt ?? createdAt} />
            </>
          ),
        },
        {
          head: 'Sessions',
          explain: 'Sessions that belong to the member',
          wraps: true,
          cell: (member) =>
            member.status === 'active' && (
              <SessionsOf of={{ person: member.userId }}>Sessions of {nameOf(member.userId)}</SessionsOf>
            ),
        },
        {
          head: 'Actions',
          isActions: true,
          cell: (member) => (
            <Actions
              member={member}
              isRepeating={repeat.isPending && repeat.variables === member.userId}
              onRepeat={() => repeat.mutate(member.userId)}
              onDo={setDoing}
            />
          ),
        },
      ]}
    >
      {role === 'owner' && <DirectorySection />}
      {doing?.what === 'invite' && <Invite onClose={close} />}
      {doing?.what === 'role' && <ChangeRole member={doing.member} onClose={close} />}
      {doing?.what === 'remove' && <Remove member={doing.member} onClose={close} />}
      {doing?.what === 'leave' && <Leave onClose={close} />}
    </ResourcePage>
  );
}

function Invite({ onClose }: { onClose: () => void }) {
  const [role, setRole] = useState<Role>('member');
  const invite = useChange((api, body: { email: string; role: Role }) => api.inviteMember({ body }), [keys.members]);
  return (
    <FormDialog
      title="Invite a person"
      action="Invite"
      error={invite.error}
      isBlocked={invite.isPending}
      onSubmit={(form) => invite.mutate({ email: String(form.get('email')).trim(), role }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <label className="flex flex-col gap-1 text-13">
        E-mail
        <input name="email" className="field" type="email" required />
      </label>
      <Radios legend="Role" options={useRoles()} value={role} onChange={setRole} />
    </FormDialog>
  );
}

interface ActionsProps {
  member: Member;
  isRepeating: boolean;
  onRepeat: () => void;
  onDo: (doing: Doing) => void;
}

function Actions({ member, isRepeating, onRepeat, onDo }: ActionsProps) {
  const { userId: own, role: ownRole } = usePerson();
  const isAdmin = useIsAdmin();
  const { userId, email, role, status } = member;
  const shown = showHidden(email);
  if (userId === own) {
    return (
      <Button size="small" tone="danger" onClick={() => onDo({ what: 'leave' })}>
        Leave
      </Button>
    );
  }
  if (!isAdmin || (role === 'owner' && ownRole !== 'owner')) return null;
  const isInvited = status === 'invited';
  return (
    <>
      {isInvited && (
        <Button size="small" disabled={isRepeating} aria-label={`Send again to ${shown}`} onClick={onRepeat}>
          Send again
        </Button>
      )}
      <Button size="small" aria-label={`Change role of ${shown}`} onClick={() => onDo({ what: 'role', member })}>
        Change role
      </Button>
      <Button
        size="small"
        tone="danger"
        aria-label={`${isInvited ? 'Withdraw the invitation of' : 'Remove'} ${shown}`}
        onClick={() => onDo({ what: 'remove', member })}
      >
        {isInvited ? 'Withdraw' : 'Remove'}
      </Button>
    </>
  );
}

/** Says why nobody gets a mail, and who can deliver it. */
function OutboxNote({ invitations }: { invitations: ReadonlyMap<string, WaitingInvitation> | undefined }) {
  if (![...(invitations?.values() ?? [])].some(({ isInOutbox }) => isInOutbox)) return null;
  return (
    <p className="max-w-[640px] text-13">
      No mail is sent, because the service has no mail server. Its operator finds each invitation as a file in the
      folder <code>outbox</code> of the data folder, and passes on the link in it. With <code>SMTP_URL</code> the
      service sends mails itself.
    </p>
  );
}

/** The state of the invitation's mail. An expired or unsent link admits nobody until the invitation is sent again. */
function MailState({ invitation }: { invitation: WaitingInvitation | undefined }) {
  const now = useNow();
  if (!invitation) return null;
  const { mailedAt, expiresAt } = invitation;
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
