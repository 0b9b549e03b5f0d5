import { Link } from '@tanstack/react-router';
import type { Environment } from '../../contract/environment.ts';
import { type FrameSearch, paths } from '../../contract/pages.ts';
import { useEnvironments, useMachineHealth } from '../app/queries.ts';
import { hrefOf } from '../kit/base-path.ts';
import { formatCount } from '../kit/format.ts';
import { Table } from '../kit/table.tsx';
import { Ago, useNow } from '../kit/time.tsx';
import { SYSTEMS } from '../shared/environment-name.ts';
import { useMachineNames } from '../shared/group-names.ts';
import { Health, type HealthWords, VersionOf, wordHealth } from '../shared/machine-health.tsx';

/** The page Machines lists the others. */
const MOST = 20;

const RANKS: Record<HealthWords['kind'], number> = { wrong: 0, paused: 1, healthy: 2 };

/** Machines with their last contact, the state of their capture and their version. Machines in trouble come first, then paused ones. */
export function Machines({ plane }: { plane: FrameSearch['plane'] }) {
  const names = useMachineNames();
  const health = useMachineHealth().data;
  const now = useNow();
  const environments = (useEnvironments().data ?? []).filter(({ status }) => status === 'active');
  if (environments.length === 0) return undefined;
  const rankOf = ({ environmentId }: Environment) =>
    RANKS[wordHealth(health?.get(environmentId), now)?.kind ?? 'healthy'];
  const sorted = environments.toSorted((a, b) => rankOf(a) - rankOf(b) || b.lastSeenAt.localeCompare(a.lastSeenAt));
  return (
    <section aria-labelledby="machines">
      <h2 id="machines" className="mb-1 text-14">
        Machines
      </h2>
      <Table
        name="Table of machines"
        keyOf={({ environmentId }) => environmentId}
        rows={sorted.slice(0, MOST)}
        columns={[
          {
            head: 'Machine',
            cell: ({ environmentId }) => (
              <a href={hrefOf(paths.sessions({ q: `machine:${environmentId}`, plane }))}>{names.get(environmentId)}</a>
            ),
          },
          { head: 'Last seen', label: 'seen', cell: ({ lastSeenAt }) => <Ago time={lastSeenAt} /> },
          {
            head: 'Capture',
            label: 'capture',
            cell: ({ environmentId }) => <Health health={health?.get(environmentId)} />,
          },
          {
            head: 'Version',
            cell: (machine) => <VersionOf machine={machine} health={health?.get(machine.environmentId)} />,
          },
          { head: 'System', isMuted: true, cell: ({ platform }) => SYSTEMS[platform] },
        ]}
      />
      {sorted.length > MOST && (
        <Link to={paths.environments()} className="link mt-2 text-13">
          All {formatCount(sorted.length)} machines
        </Link>
      )}
    </section>
  );
}
