import { Link } from '@tanstack/react-router';
import type { Member } from '../../contract/organization.ts';
import { useMembers } from '../app/queries.ts';
import { showHidden } from '../kit/text/controls.ts';

/** Names a member by their e-mail address. */
export function useNameOf(): (userId: string) => string {
  const { data: members } = useMembers();
  return (userId) => {
    const member = members?.find((each) => each.userId === userId);
    if (member) return showHidden(member.email);
    return members ? 'a former member' : '…';
  };
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
