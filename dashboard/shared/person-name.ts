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
