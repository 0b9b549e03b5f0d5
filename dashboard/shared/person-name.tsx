import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Member } from '../../contract/organization.ts';
import { namesOf } from '../../contract/person-name.ts';
import type { SessionSummary } from '../../contract/review.ts';
import { useMembers } from '../app/queries.ts';
import { showHidden } from '../kit/text/controls.ts';

/** Names a member in short. */
export function useNameOf(): (userId: string) => string {
  const { data: members } = useMembers();
  return useMemo(() => {
    const names = members && namesOf(members);
    return (userId) => showHidden(names?.get(userId) ?? (names ? 'a former member' : '…'));
  }, [members]);
}

type Whose = Pick<SessionSummary, 'userId' | 'account'>;

/** Says to whom a session belongs. If it belongs to nobody, the account on the machine is the only trace of a person. */
export function useOwnerOf(): (summary: Whose, machine?: string) => string {
  const nameOf = useNameOf();
  return useMemo(
    () =>
      ({ userId, account }, machine) => {
        if (userId !== undefined) return nameOf(userId);
        const where = machine ? ` on ${machine}` : '';
        return account === undefined ? 'nobody’s' : `nobody’s: account ${showHidden(account)}${where}`;
      },
    [nameOf],
  );
}

/** The name of a person; for a member, a link to their page. */
export function PersonLink({ userId }: { userId: string }) {
  const { data: members } = useMembers();
  const name = useNameOf()(userId);
  const member = members?.find((each) => each.userId === userId);
  if (!member) return <span className="text-muted">{name}</span>;
  return <MemberLink member={member} />;
}

/** The e-mail address of a member as a link to their page. A long address may break before the @. */
export function MemberLink({ member: { userId, email } }: { member: Pick<Member, 'userId' | 'email'> }) {
  const [name = '', ...hosts] = showHidden(email).split(/(?=@)/);
  return (
    <Link to="/members/$userId" params={{ userId }} className="row-link">
      {name}
      {hosts.length > 0 && <wbr />}
      {hosts.join('')}
    </Link>
  );
}
