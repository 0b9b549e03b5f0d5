import { Link } from '@tanstack/react-router';
import type { Member } from '../../contract/organization.ts';
import { useMembers } from '../app/queries.ts';
import { showHidden } from '../kit/text/controls.ts';

/** Names a person by their e-mail while they are a member. */
export function useNameOf(): (userId: string) => string {
  const { data: members } = useMembers();
  return (userId) => {
    const member = members?.find((each) => each.userId === userId);
    if (member) return showHidden(member.email);
    return members ? 'a former member' : '…';
  };
}

/** The name of a person, with a link to their page while they are a member. */
export function PersonLink({ userId }: { userId: string }) {
  const { data: members } = useMembers();
  const name = useNameOf()(userId);
  const member = members?.find((each) => each.userId === userId);
  if (!member) return <span className="text-muted">{name}</span>;
  return <MemberLink member={member} />;
}

/** The e-mail of a member, with a link to their page. Too long for its line, it breaks behind the @ first. */
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
