import { paths } from '../app/paths.ts';
import { useEnvironments, useMachineHealth } from '../app/queries.ts';
import type { FrameSearch } from '../app/search.ts';
import { Table } from '../kit/table.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { useMachineNames } from '../shared/group-names.ts';
import { Health, VersionOf } from '../shared/machine-health.tsx';

/** When each machine was last heard of, how its capture is doing, and what it runs. */
export function Machines({ plane }: { plane: FrameSearch['plane'] }) {
  const names = useMachineNames();
  const health = useMachineHealth().data;
  const environments = (useEnvironments().data ?? []).filter(({ status }) => status === 'active');
  if (environments.length === 0) return undefined;
  return (
    <section aria-labelledby="machines" className="overview-part">
      <h2 id="machines" className="mb-1 text-14">
        Machines
      </h2>
      <Table
        name="Table of machines"
        keyOf={({ environmentId }) => environmentId}
        rows={environments.toSorted((a, b) => b.lastSeenAt.localeCompare(a.lastSeenAt))}
        columns={[
          {
            head: 'Machine',
            cell: ({ environmentId }) => (
              <a href={paths.sessions({ q: `machine:${environmentId}`, plane })}>{names.get(environmentId)}</a>
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
            cell: ({ environmentId, serviceCliVersion }) => (
              <VersionOf version={showHidden(serviceCliVersion)} health={health?.get(environmentId)} />
            ),
          },
          { head: 'System', isMuted: true, cell: ({ platform }) => platform },
        ]}
      />
    </section>
  );
}
