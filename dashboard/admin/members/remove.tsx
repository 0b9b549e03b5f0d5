import { useState } from 'react';
import type { Member, RemovalQuery } from '../../../contract/organization.ts';
import { keys, useDirectory, useMembers } from '../../app/queries.ts';
import { Check, Radios } from '../../kit/choice.tsx';
import { showHidden } from '../../kit/text/controls.ts';
import { Confirm } from '../../shared/confirm.tsx';
import { nameOfEnvironment } from '../../shared/environment-name.ts';
import { useIssuedBy } from '../issued-by.ts';

interface Props {
  member: Member;
  onClose: () => void;
}

/** Removes a member or withdraws an invitation. Asks whether to keep their secrets, machines and sessions. */
export function Remove({ member, onClose }: Props) {
  const { userId, status } = member;
  const isInvited = status === 'invited';
  const [isRevoking, setRevoking] = useState(true);
  const [isEnding, setEnding] = useState(false);
  const [sessions, setSessions] = useState<Fate>('keep');
  const [to, setTo] = useState('');
  const [isCutting, setCutting] = useState(true);
  const { machines } = useIssuedBy(userId);
  const token = useDirectory().data?.token;
  const hasToken = token?.createdBy === userId;
  const email = showHidden(member.email);
  const query = {
    secrets: isRevoking ? 'revoke' : 'keep',
    ...(hasToken && !isCutting && { directory: 'keep' }),
    ...(sessions !== 'keep' && { sessions }),
    ...(sessions === 'handOver' && { to }),
  } satisfies RemovalQuery;
  return (
    <Confirm
      title={isInvited ? `Withdraw the invitation of ${email}` : `Remove ${email}`}
      action={isInvited ? 'Withdraw' : 'Remove'}
      run={async (api) => {
        await api.removeMember({ userId, query });
        if (!isEnding || sessions !== 'keep') return;
        for (const { environmentId } of machines) await api.revokeEnvironment({ environmentId });
      }}
      touches={[keys.members, keys.directory, keys.secrets, keys.environments, keys.allSessions]}
      isIncomplete={sessions === 'handOver' && to === ''}
      onDone={onClose}
      onClose={onClose}
      extra={
        <>
          {!isInvited && <SessionsChoice chosen={sessions} onChoose={setSessions} />}
          {sessions === 'handOver' && <Successor of={member} to={to} onChoose={setTo} />}
          {!isInvited && (
            <Check isChecked={isRevoking} onChange={setRevoking}>
              Revoke the secrets they issued or have on their machines. Machines that use them stop sending until they
              are signed in again.
            </Check>
          )}
          {hasToken && (
            <Check isChecked={isCutting} onChange={setCutting}>
              Revoke the token of the directory, which they issued and may still know. Until you enter a new one there,
              the directory cannot invite or remove members.
            </Check>
          )}
          {machines.length > 0 && sessions === 'keep' && (
            <Check isChecked={isEnding} onChange={setEnding}>
              Revoke {machines.map(nameOfEnvironment).join(', ')} for good.
            </Check>
          )}
        </>
      }
    >
      {isInvited
        ? 'The invitation no longer works. You can invite this address again.'
        : `${email} loses access now. This is recorded in the audit log.`}
    </Confirm>
  );
}

type Fate = NonNullable<RemovalQuery['sessions']>;

const FATES = [
  { value: 'keep', label: 'Keep', meaning: 'unchanged. Private sessions stay private' },
  {
    value: 'handOver',
    label: 'Hand over',
    meaning: 'to another member. Sessions that the team cannot read stay hidden from them',
  },
  { value: 'delete', label: 'Delete', meaning: 'all their sessions, and revoke their machines. This cannot be undone' },
] as const;

const SessionsChoice = ({ chosen, onChoose }: { chosen: Fate; onChoose: (fate: Fate) => void }) => (
  <Radios<Fate> legend="Their machines and sessions" options={FATES} value={chosen} onChange={onChoose} />
);

/** Chooses the member who gets the machines and sessions. */
function Successor({ of, to, onChoose }: { of: Member; to: string; onChoose: (userId: string) => void }) {
  const { data: members = [] } = useMembers();
  const others = members.filter(({ userId, status }) => status === 'active' && userId !== of.userId);
  return (
    <label className="flex flex-col gap-1 text-13">
      Hand over to
      <select className="field" required value={to} onChange={({ target }) => onChoose(target.value)}>
        <option value="">Choose a member</option>
        {others.map(({ userId, email }) => (
          <option key={userId} value={userId}>
            {showHidden(email)}
          </option>
        ))}
      </select>
    </label>
  );
}
