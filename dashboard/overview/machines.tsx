import type { Usage } from '../../contract/review.ts';
import { paths } from '../app/paths.ts';
import { useEnvironments } from '../app/queries.ts';
import type { FrameSearch } from '../app/search.ts';
import { formatDuration } from '../kit/format.ts';
import { Scroll } from '../kit/scroll.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { useMachineNames } from '../shared/group-names.ts';

interface Props {
  usage: Usage;
  plane: FrameSearch['plane'];
}

/** A capture that is this far behind is waiting for something. */
const LATE_MS = 60_000;

/** When each machine was last heard of, how far its capture was behind then, and what it runs. */
export function Machines({ usage, plane }: Props) {
  const names = useMachineNames();
  const environments = (useEnvironments().data ?? []).filter(({ status }) => status === 'active');
  const lags = new Map(usage.machines.map(({ environmentId, lagMs }) => [environmentId, lagMs]));
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
              <th>Upload delay</th>
              <th>Version</th>
              <th>System</th>
            </tr>
          </thead>
          <tbody>
            {environments
              .toSorted((a, b) => b.lastSeenAt.localeCompare(a.lastSeenAt))
              .map(({ environmentId, lastSeenAt, serviceCliVersion, platform }) => {
                const lag = lags.get(environmentId);
                return (
                  <tr key={environmentId}>
                    <td>
                      <a href={paths.sessions({ q: `machine:${environmentId}`, plane })}>{names.get(environmentId)}</a>
                    </td>
                    <td data-label="seen">
                      <Ago time={lastSeenAt} />
                    </td>
                    <td
                      data-label="behind by"
                      className={lag !== undefined && lag > LATE_MS ? 'text-warn' : 'text-muted'}
                    >
                      {lag === undefined ? '–' : formatDuration(lag)}
                    </td>
                    <td className="text-muted">{showHidden(serviceCliVersion)}</td>
                    <td className="text-muted">{platform}</td>
                  </tr>
                );
              })}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
