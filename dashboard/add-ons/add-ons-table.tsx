import type { AddOns } from '../../contract/add-ons.ts';
import type { AddOnKind } from '../../contract/names.ts';
import { type FrameSearch, paths } from '../../contract/pages.ts';
import { formatQuery } from '../../contract/written-query.ts';
import { useLinks } from '../app/use-links.ts';
import { hrefOf } from '../kit/base-path.ts';
import { formatCost, formatCount, formatPart, formatTokens, plural } from '../kit/format.ts';
import { type Column, Table } from '../kit/table.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { AgentName } from '../shared/agent-name.tsx';
import { useNameOf } from '../shared/person-name.tsx';
import { filtersOf, type Range } from '../shared/series-slots.ts';

type AddOn = AddOns['addOns'][number];
type Plane = FrameSearch['plane'];

const KIND_NAMES: Record<AddOnKind, string> = {
  mcp: 'MCP server',
  skill: 'skill',
  subagent: 'sub-agent',
  plugin: 'plugin',
};

const UNKNOWN = (
  <span className="text-muted" title="Unknown: not recorded in the transcripts">
    –
  </span>
);

const COLUMNS: readonly Column<AddOn>[] = [
  { head: 'Kind', cell: ({ kind }) => <span className="text-muted">{KIND_NAMES[kind]}</span> },
  { head: 'Calls', isNumber: true, cell: ({ calls }) => (calls === 0 ? 'never' : formatCount(calls)) },
  {
    head: 'Failed',
    isNumber: true,
    cell: ({ calls, failures }) =>
      failures === 0 ? undefined : (
        <span className="text-bad">
          {formatCount(failures)} · {formatPart(Math.min(1, failures / Math.max(1, calls)))}
        </span>
      ),
  },
  { head: 'Sessions', isNumber: true, cell: ({ sessions }) => formatCount(sessions) },
  {
    head: 'Offered in',
    isNumber: true,
    explain: 'Sessions in which the agent offered it to its model. Only Claude Code records this.',
    cell: ({ listed }) => (listed === 0 ? UNKNOWN : plural(listed, 'session')),
  },
  {
    head: 'People',
    cell: ({ calls, people, topPeople }) =>
      calls === 0 ? undefined : people === 0 ? UNKNOWN : <People userIds={topPeople} count={people} />,
  },
  {
    head: 'Agents',
    cell: ({ agentIds }) =>
      agentIds.length === 0 ? undefined : (
        <span className="inline-flex flex-wrap gap-x-3">
          {agentIds.map((agentId) => (
            <AgentName key={agentId} agentId={agentId} />
          ))}
        </span>
      ),
  },
  { head: 'Last used', cell: ({ lastUsedAt }) => lastUsedAt && <Ago time={lastUsedAt} /> },
  {
    head: 'Tokens',
    isNumber: true,
    explain: 'Tokens of sub-agents. Tokens of other calls count for the turn that made them.',
    cell: ({ calls, tokens }) => (calls === 0 ? undefined : tokens === undefined ? UNKNOWN : formatTokens(tokens)),
  },
  {
    head: 'Cost',
    isNumber: true,
    cell: ({ calls, cost }) => (calls === 0 ? undefined : cost === undefined ? UNKNOWN : formatCost(cost)),
  },
];

const FEW_PEOPLE = 2;

function People({ userIds, count }: { userIds: readonly string[]; count: number }) {
  const nameOf = useNameOf();
  if (userIds.length === 0) return count === 1 ? '1 person' : `${formatCount(count)} people`;
  const names = userIds.map(nameOf);
  const shown = names.slice(0, FEW_PEOPLE);
  const more = count > shown.length ? [`${formatCount(count - shown.length)} more`] : [];
  return <span title={names.join(', ')}>{[...shown, ...more].join(', ')}</span>;
}

/** A row for each add-on, with a link to its sessions. */
export function AddOnsTable({ found, plane }: { found: AddOns; plane: Plane }) {
  const onClick = useLinks();
  const { addOns, isWhole } = found;
  if (addOns.length === 0) {
    return <p className="text-13 text-muted">No add-ons in this period.</p>;
  }
  return (
    // biome-ignore lint/a11y: the click targets a link inside, which Enter activates as well
    <div onClick={onClick}>
      <Table
        name="Table of add-ons"
        rows={addOns}
        keyOf={({ kind, name }) => `${kind} ${name}`}
        isMuted={({ calls }) => calls === 0}
        columns={[
          {
            head: 'Name',
            cell: (addOn) => (
              <span className="inline-block max-w-80 truncate" title={showHidden(addOn.name)}>
                {addOn.calls === 0 ? (
                  showHidden(addOn.name)
                ) : (
                  <a href={hrefOf(sessionsWith(addOn, found, plane))}>{showHidden(addOn.name)}</a>
                )}
              </span>
            ),
          },
          ...COLUMNS.map((column) => ({ ...column, label: column.head.toLowerCase() })),
        ]}
      />
      {!isWhole && (
        <p className="mt-2 text-12 text-muted">
          Only the {formatCount(addOns.length)} add-ons with the most calls are listed.
        </p>
      )}
    </div>
  );
}

function sessionsWith({ kind, name }: AddOn, days: Range, plane: Plane): string {
  const filters = [{ field: kind, value: name }, ...filtersOf(days)];
  return paths.sessions({ q: formatQuery({ terms: [], filters }), plane });
}
