import type { SessionSenders } from '../../contract/senders.ts';
import { useSessionSenders } from '../app/queries.ts';
import { plural } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { useMachineNames } from '../shared/group-names.ts';
import { HeaderDetails } from './header-details.tsx';

/** Says that other machines, or secrets without a machine, sent events of the session. */
export function OtherSenders({ sessionId }: { sessionId: string }) {
  const { data: senders = [] } = useSessionSenders(sessionId);
  const machines = useMachineNames();
  if (senders.length === 0) return null;
  const names = senders.map((sender) => nameOf(sender, machines));
  const kind = senders.every(({ environmentId }) => environmentId === undefined) ? 'secret' : 'machine';
  return (
    <HeaderDetails label="Other senders" summary={`Sent by another ${kind}: ${[...new Set(names)].join(', ')}`}>
      {senders.map(({ secretId, events, firstSequence, lastSequence, lastAt }, index) => (
        <li key={secretId}>
          {names[index]} sent {plural(events, 'event')} between {firstSequence} and {lastSequence}, the last{' '}
          <Ago time={lastAt} />
        </li>
      ))}
    </HeaderDetails>
  );
}

const nameOf = (
  { environmentId, name, secretId }: SessionSenders['senders'][number],
  machines: ReadonlyMap<string, string>,
): string => machines.get(environmentId ?? '') ?? showHidden(name ?? secretId);
