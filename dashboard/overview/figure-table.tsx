import type { ReactNode } from 'react';
import type { FrameSearch } from '../../contract/pages.ts';
import type { Figures, Usage } from '../../contract/review.ts';
import { hrefOf } from '../kit/base-path.ts';
import { formatCount, formatPart, formatUtcDay } from '../kit/format.ts';
import { Table } from '../kit/table.tsx';
import { FIELD_OF, type Group, useNames } from '../shared/group-names.ts';
import { type Range, sumBySlot } from '../shared/series-slots.ts';
import { FiguresCost } from './figures-cost.tsx';
import { failureRateOf, sessionsOf } from './series.ts';

interface Props {
  usage: Usage;
  groups: readonly Group[];
  slots: readonly Range[];
  plane: FrameSearch['plane'];
  /** The name of the dimension. */
  label: string;
}

interface Row {
  key: string;
  name: string;
  href?: string;
  figures: Figures;
}

/** A table with the exact values of all plots. */
export function FigureTable({ usage, groups, slots, plane, label }: Props) {
  const { nameOf } = useNames();
  const sums = sumBySlot(usage.days, slots);
  const byGroup = groups.map(
    (group): Row => ({
      key: group.value,
      name: nameOf(group),
      ...(group.value !== '' && {
        href: hrefOf(sessionsOf(plane, usage, { field: FIELD_OF[group.dimension], value: group.value })),
      }),
      figures: group,
    }),
  );
  const bySlot = slots.map(
    (slot, index): Row => ({
      key: slot.from,
      name: `${formatUtcDay(Date.parse(slot.from), 'year')}${slot.from === slot.to ? '' : ` to ${formatUtcDay(Date.parse(slot.to))}`}`,
      href: hrefOf(sessionsOf(plane, slot)),
      figures: sums[index] as Figures,
    }),
  );
  return (
    <Table
      isLong
      name="Figures"
      keyOf={({ key }) => key}
      rows={[...byGroup, { key: 'all', name: 'All', figures: usage.total }]}
      below={{ head: slots.some(({ from, to }) => from !== to) ? 'Week, UTC' : 'Day, UTC', rows: bySlot.toReversed() }}
      columns={[
        { head: label, cell: ({ name, href }) => (href === undefined ? name : <a href={href}>{name}</a>) },
        ...FIGURES.map(({ head, of }) => ({ head, isNumber: true, cell: ({ figures }: Row) => of(figures, usage) })),
      ]}
    />
  );
}

const FIGURES: readonly { head: string; of: (figures: Figures, usage: Usage) => ReactNode }[] = [
  { head: 'Sessions', of: ({ sessions }) => formatCount(sessions) },
  { head: 'Prompts', of: ({ prompts }) => formatCount(prompts) },
  { head: 'Calls', of: ({ toolCalls }) => formatCount(toolCalls) },
  { head: 'Failed', of: ({ failures }) => formatCount(failures) },
  { head: 'Rate', of: (figures) => partOrNothing(failureRateOf(figures)) },
  { head: 'Input', of: ({ inputTokens }) => formatCount(inputTokens) },
  { head: 'Cached', of: ({ cachedTokens }) => formatCount(cachedTokens) },
  { head: 'Output', of: ({ outputTokens }) => formatCount(outputTokens) },
  { head: 'Cost', of: (figures, usage) => <FiguresCost figures={figures} usage={usage} /> },
];

const partOrNothing = (part: number | undefined): string => (part === undefined ? '' : formatPart(part));
