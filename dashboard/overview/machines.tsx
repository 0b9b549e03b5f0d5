import { paths } from '../app/paths.ts';
import { useEnvironments, useMachineHealth } from '../app/queries.ts';
import type { FrameSearch } from '../app/search.ts';
import { Scroll } from '../kit/scroll.tsx';
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
      <Scroll aria-label="Table of machines" className="overflow-x-auto">
        <table className="table table-lines">
          <thead>
            <tr>
              <th>Machine</th>
              <th>Last seen</th>
              <th>Capture</th>
              <th>Version</th>
              <th>System</th>
            </tr>
          </thead>
          <tbody>
            {environments
              .toSorted((a, b) => b.lastSeenAt.localeCompare(a.lastSeenAt))
              .map(({ environmentId, lastSeenAt, serviceCliVersion, platform }) => (
                <tr key={environmentId}>
                  <td>
                    <a href={paths.sessions({ q: `machine:${environmentId}`, plane })}>{names.get(environmentId)}</a>
                  </td>
                  <td data-label="seen">
                    <Ago time={lastSeenAt} />
                  </td>
                  <td data-label="capture">
                    <Health health={health?.get(environmentId)} />
                  </td>
                  <td>
                    <VersionOf version={showHidden(serviceCliVersion)} health={health?.get(environmentId)} />
                  </td>
                  <td className="text-muted">{platform}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
