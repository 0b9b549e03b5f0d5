import type { MachineHealth } from '../../contract/environment.ts';
import { plural } from '../kit/format.ts';
import { Table } from '../kit/table.tsx';
import { agentName } from '../shared/agent-name.tsx';
import { CompletenessLine } from '../shared/completeness-line.tsx';
import { useMachineNames } from '../shared/group-names.ts';
import { mergeGaps, type TeamGap, wordGap } from './gap-words.ts';

/** Machines that are named; the others are counted. */
const MAX_NAMED = 3;

/** How many transcripts of the organization are where, and what no reader reads or knows. */
export function Gaps({ machines }: { machines: readonly MachineHealth[] }) {
  const names = useMachineNames();
  const gaps = mergeGaps(machines);
  const wordMachines = ({ machines: ids }: TeamGap): string => {
    const named = ids.slice(0, MAX_NAMED).map((id) => names.get(id) ?? 'a machine');
    const others = ids.length - named.length;
    return others > 0 ? `${named.join(', ')} and ${plural(others, 'other')}` : named.join(', ');
  };
  return (
    <section aria-label="Completeness" className="flex flex-col gap-3">
      <CompletenessLine machines={machines} />
      {gaps.length > 0 && (
        <Table
          name="Not read or not known"
          keyOf={({ kind, agent, version = '' }) => `${kind} ${agent} ${version}`}
          rows={gaps}
          columns={[
            {
              head: 'Agent',
              cell: ({ agent, version }) => (
                <>
                  {agentName(agent)} {version !== undefined && <span className="text-muted">{version}</span>}
                </>
              ),
            },
            { head: 'Not read or not known', wraps: true, cell: wordGap },
            { head: 'Machines', wraps: true, isMuted: true, cell: wordMachines },
          ]}
        />
      )}
    </section>
  );
}
