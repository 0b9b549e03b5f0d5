import type { Dimension } from '../../contract/names.ts';
import { type FrameSearch, paths } from '../../contract/pages.ts';
import type { Figures, Usage } from '../../contract/review.ts';
import { type Field, formatQuery } from '../../contract/written-query.ts';
import { FIELD_OF, type Group } from '../shared/group-names.ts';
import { filtersOf, type Range, sumBySlot } from '../shared/series-slots.ts';

/** A line or a layer of a plot, with its values by slot; undefined for a slot without a value. */
export interface Series {
  label: string;
  color: string;
  values: readonly (number | undefined)[];
  /** The value of the whole range. */
  total: number | undefined;
  /** The filter that finds its sessions. */
  filter?: { field: Field; value: string };
}

/** The number of values with a series of their own; the rest share one. */
const MAX_SERIES = 5;

/** The groups of a dimension: those with the most sessions first, and the service's group of all others last. */
export const groupsOf = ({ groups }: Usage, dimension: Dimension): Group[] =>
  groups
    .filter((group) => group.dimension === dimension)
    .sort((a, b) => Number(a.value === '') - Number(b.value === '') || b.sessions - a.sessions);

interface GroupSeries {
  groups: readonly Group[];
  slots: readonly Range[];
  figureOf: (figures: Figures) => number;
  /** The name of a group. */
  nameOf: (group: Group) => string;
  /** `place` is the number of groups before this one. */
  colorOf: (group: Group, place: number) => string;
}

/** One figure by group. */
export function readGroupSeries({ groups, slots, figureOf, nameOf, colorOf }: GroupSeries): Series[] {
  const byFigure = groups.toSorted(
    (a, b) => Number(a.value === '') - Number(b.value === '') || figureOf(b) - figureOf(a),
  );
  const told = byFigure.slice(0, MAX_SERIES).filter((group) => group.value !== '' && figureOf(group) > 0);
  const rest = byFigure.filter((group) => !told.includes(group) && figureOf(group) > 0);
  const series = told.map((group, place) => ({
    label: nameOf(group),
    color: colorOf(group, place),
    values: sumBySlot(group.days, slots).map(figureOf),
    total: figureOf(group),
    filter: { field: FIELD_OF[group.dimension], value: group.value },
  }));
  if (rest.length === 0) return series;
  const days = rest.flatMap((group) => group.days);
  const total = rest.reduce((sum, group) => sum + figureOf(group), 0);
  return [
    ...series,
    { label: 'others', color: 'var(--plot-rest)', values: sumBySlot(days, slots).map(figureOf), total },
  ];
}

const TOKENS: readonly { label: string; color: string; of: (figures: Figures) => number }[] = [
  { label: 'cached input', color: 'var(--plot-2)', of: ({ cachedTokens }) => cachedTokens },
  { label: 'input', color: 'var(--plot-1)', of: (each) => Math.max(0, each.inputTokens - each.cachedTokens) },
  { label: 'output', color: 'var(--plot-output)', of: ({ outputTokens }) => outputTokens },
];

export const readTokenSeries = (total: Figures, sums: readonly Figures[]): Series[] =>
  TOKENS.map(({ label, color, of }) => ({ label, color, values: sums.map(of), total: of(total) }));

/** The part of calls that failed, between 0 and 1; undefined without calls. */
export const failureRateOf = ({ failures, toolCalls }: Figures): number | undefined =>
  toolCalls === 0 ? undefined : Math.min(1, failures / toolCalls);

export const readFailureSeries = (total: Figures, sums: readonly Figures[]): Series[] => [
  { label: 'failed', color: 'var(--mark-error)', values: sums.map(failureRateOf), total: failureRateOf(total) },
];

/** The address of the sessions of some days, and of one group if a filter is given. */
export function sessionsOf(plane: FrameSearch['plane'], days: Range, ...filters: Series['filter'][]): string {
  const given = filters.filter((filter) => filter !== undefined);
  return paths.sessions({ q: formatQuery({ terms: [], filters: [...given, ...filtersOf(days)] }), plane });
}
