import { paths } from '../../contract/pages.ts';
import { useMachineHealth } from '../app/queries.ts';
import { hrefOf } from '../kit/base-path.ts';
import { CompletenessLine } from '../shared/completeness-line.tsx';

/** One line on all transcripts of the organization. The page Machines has the list behind it. */
export function Completeness() {
  const health = useMachineHealth().data;
  if (health === undefined || health.size === 0) return undefined;
  return (
    <a href={hrefOf(paths.environments())} className="-mt-5 block">
      <CompletenessLine machines={[...health.values()]} />
    </a>
  );
}
