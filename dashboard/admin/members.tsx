import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useIsAdmin } from '../app/app.ts';
import { useMembers } from '../app/queries.ts';
import { useHash } from '../app/use-hash.ts';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { Invite } from './members/invite.tsx';
import { Leave, Remove } from './members/leave.tsx';
import { type Doing, MemberTable } from './members/member-table.tsx';
import { ChangeRole } from './members/role.tsx';

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
