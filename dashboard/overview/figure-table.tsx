import type { Figures, Usage } from '../../contract/review.ts';
import type { FrameSearch } from '../app/search.ts';
import { formatCost, formatCount, formatPart, formatUtcDay } from '../kit/format.ts';
import { Scroll } from '../kit/scroll.tsx';
import { FIELD_OF, type Group, useNames } from '../shared/group-names.ts';
import { type Range, sumBySlot } from '../shared/series-slots.ts';
import { failureRateOf, sessionsOf } from './series.ts';

interface Props {
  usage: Usage;
  groups: readonly Group[];
  slots: readonly Range[];
  plane: FrameSearch['plane'];
  /** What the groups are. */
  label: string;
}

/** All that the plots show, exactly. */
export function FigureTable({ usage, groups, slots, plane, label }: Props) {
  const { nameOf } = useNames();
  const sums = sumBySlot(usage.days, slots);
  return (
    <Scroll aria-label="Figures" className="max-h-[560px] overflow-auto">
      <table className="table">
        <Head first={label} />
        <tbody>
          {groups.map((group) => {
            const { dimension, value } = group;
            const filter = { field: FIELD_OF[dimension], value };
            return (
              <Line key={value} figures={group}>
                {value === '' ? nameOf(group) : <a href={sessionsOf(plane, usage, filter)}>{nameOf(group)}</a>}
              </Line>
            );
          })}
          <Line figures={usage.total}>All</Line>
        </tbody>
        <Head first={slots.some(({ from, to }) => from !== to) ? 'Week' : 'Day'} />
        <tbody>
          {slots
            .map((slot, index) => (
              <Line key={slot.from} figures={sums[index] as Figures}>
                <a href={sessionsOf(plane, slot)}>
                  {formatUtcDay(Date.parse(slot.from), 'year')}
                  {slot.from !== slot.to && ` to ${formatUtcDay(Date.parse(slot.to))}`}
                </a>
              </Line>
            ))
            .reverse()}
        </tbody>
      </table>
    </Scroll>
  );
}

const COLUMNS: readonly { label: string; of: (figures: Figures) => string }[] = [
  { label: 'Sessions', of: ({ sessions }) => formatCount(sessions) },
  { label: 'Prompts', of: ({ prompts }) => formatCount(prompts) },
  { label: 'Calls', of: ({ toolCalls }) => formatCount(toolCalls) },
  { label: 'Failed', of: ({ failures }) => formatCount(failures) },
  { label: 'Rate', of: (figures) => partOrNothing(failureRateOf(figures)) },
  { label: 'Input', of: ({ inputTokens }) => formatCount(inputTokens) },
  { label: 'Cached', of: ({ cachedTokens }) => formatCount(cachedTokens) },
  { label: 'Output', of: ({ outputTokens }) => formatCount(outputTokens) },
  { label: 'Cost', of: ({ cost }) => (cost === undefined ? '' : formatCost(cost)) },
];

const partOrNothing = (part: number | undefined): string => (part === undefined ? '' : formatPart(part));

const Head = ({ first }: { first: string }) => (
  <thead>
    <tr>
      <th>{first}</th>
      {COLUMNS.map(({ label }) => (
        <th key={label} data-number>
          {label}
        </th>
      ))}
    </tr>
  </thead>
);

const Line = ({ figures, children }: { figures: Figures; children: React.ReactNode }) => (
  <tr>
    <td>{children}</td>
    {COLUMNS.map(({ label, of }) => (
      <td key={label} data-number>
        {of(figures)}
      </td>
    ))}
  </tr>
);
