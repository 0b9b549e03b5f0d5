import { Link } from '@tanstack/react-router';
import { useMembers } from '../app/queries.ts';
import { showHidden } from '../kit/text/controls.ts';

/** Who did something, while they are a member. */
export function Issuer({ userId }: { userId: string }) {
  const { data: members } = useMembers();
  const issuer = members?.find((member) => member.userId === userId);
  if (!issuer) return <span className="text-muted">{members ? 'a former member' : '…'}</span>;
  return (
    <Link to="/members/$userId" params={{ userId }} className="row-link">
      {showHidden(issuer.email)}
    </Link>
  );
}
