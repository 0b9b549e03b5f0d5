import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useIsAdmin } from '../app.ts';
import { Invite } from '../components/members/invite.tsx';
import { Leave, Remove } from '../components/members/leave.tsx';
import { type Doing, MemberTable } from '../components/members/member-table.tsx';
import { ChangeRole } from '../components/members/role.tsx';
import { Page } from '../components/page.tsx';
import { useHash } from '../components/use-hash.ts';
import { useMembers } from '../queries.ts';
import { Button } from '../ui/button.tsx';

export function MembersPage() {
  const members = useMembers();
  const isAdmin = useIsAdmin();
  const [isInviting, setInviting] = useState(false);
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  useHash('invite', () => isAdmin && setInviting(true));
  const invite = (
    <Button tone="primary" onClick={() => setInviting(true)}>
      <UserPlus size={16} aria-hidden /> Invite
    </Button>
  );
  return (
    <Page
      title="Members"
      context="Sessions are matched to members by user name: ada for ada@example.com."
      actions={isAdmin && invite}
    >
      <MemberTable members={members} onDo={setDoing} />
      {isInviting && <Invite onClose={() => setInviting(false)} />}
      {doing?.what === 'role' && <ChangeRole member={doing.member} onClose={close} />}
      {doing?.what === 'remove' && <Remove member={doing.member} onClose={close} />}
      {doing?.what === 'leave' && <Leave onClose={close} />}
    </Page>
  );
}
