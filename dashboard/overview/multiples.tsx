import { useMemo, useState } from 'react';
import { DIMENSIONS, type Dimension } from '../../contract/names.ts';
import type { FrameSearch } from '../../contract/pages.ts';
import type { Usage } from '../../contract/review.ts';
import { hrefOf } from '../kit/base-path.ts';
import { Choice } from '../kit/choice.tsx';
import { formatCost, formatPart, formatShort } from '../kit/format.ts';
import { useNames } from '../shared/group-names.ts';
import { ListPrices } from '../shared/list-prices.tsx';
import { slotsOf, sumBySlot } from '../shared/series-slots.ts';
import { FigureTable } from './figure-table.tsx';
import { FiguresCost } from './figures-cost.tsx';
import { failureRateOf, groupsOf, readFailureSeries, readGroupSeries, readTokenSeries, sessionsOf } from './series.ts';
import { TimePlot } from './time-plot.tsx';

interface Props {
  usage: Usage;
  /** The usage of the period before, which has as many days. */
  before: Usage | undefined;
  plane: FrameSearch['plane'];
  dimension: Dimension;
  onDimension: (dimension: Dimension) => void;
}

const LABELS: Record<Dimension, string> = {
  agent: 'Agent',
  model: 'Model',
  repository: 'Repository',
  environment: 'Machine',
  person: 'Person',
};

/** By person only if the policy of the organization allows it. */
const dimensionsOf = ({ groups }: Usage): Dimension[] =>
  DIMENSIONS.filter((one) => one !== 'person' || groups.some(({ dimension }) => dimension === one));

const TOO_FEW = 'Too few people were active in this period to show their figures by name. Choose a longer period.';

/** Four plots of the same days: cost (with the period before), sessions, tokens and failures. Or one table. */
export function Multiples({ usage, before, plane, dimension: wanted, onDimension }: Props) {
  const [view, setView] = useState<'plots' | 'table'>('plots');
  const [slot, setSlot] = useState<number>();
  const { nameOf, colorOf } = useNames();
  const range = useMemo(() => ({ from: usage.from, to: usage.to }), [usage]);
  const slots = useMemo(() => slotsOf(range), [range]);
  const offered = useMemo(() => dimensionsOf(usage), [usage]);
  const dimension = offered.includes(wanted) ? wanted : 'agent';
  const groups = useMemo(() => groupsOf(usage, dimension), [usage, dimension]);
  const plots = useMemo(() => {
    const sums = sumBySlot(usage.days, slots);
    const { total } = usage;
    const byGroup = { groups, slots, nameOf, colorOf };
    return [
      {
        title: 'Cost',
        shape: 'bars',
        series: readGroupSeries({ ...byGroup, figureOf: ({ cost }) => cost ?? 0 }),
        format: formatCost,
        total: total.cost,
      },
      {
        title: 'Sessions',
        shape: 'bars',
        series: readGroupSeries({ ...byGroup, figureOf: ({ sessions }) => sessions }),
        format: formatShort,
        total: total.sessions,
      },
      {
        title: 'Tokens',
        shape: 'bars',
        series: readTokenSeries(total, sums),
        format: formatShort,
        total: total.inputTokens + total.outputTokens,
      },
      {
        title: 'Failures per call',
        shape: 'line',
        series: readFailureSeries(total, sums),
        format: formatPart,
        total: failureRateOf(total),
      },
    ] as const;
  }, [usage, groups, slots, nameOf, colorOf]);

  const ghost = useMemo(() => {
    if (!before) return undefined;
    return sumBySlot(before.days, slotsOf(before)).map(({ cost }) => cost ?? 0);
  }, [before]);

  return (
    <section aria-labelledby="figures">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 id="figures" className="text-14">
          Figures by {LABELS[dimension].toLowerCase()}
        </h2>
        <div className="flex flex-wrap gap-2">
          <Choice
            label="Group by"
            options={offered.map((value) => ({ value, label: LABELS[value] }))}
            value={dimension}
            onChange={onDimension}
          />
          <Choice
            label="Shown as"
            options={[
              { value: 'plots', label: 'Plots' },
              { value: 'table', label: 'Table' },
            ]}
            value={view}
            onChange={setView}
          />
        </div>
      </div>
      {dimension === 'person' && groups.every(({ value }) => value === '') && (
        <p className="mb-3 text-13 text-muted">{TOO_FEW}</p>
      )}
      {view === 'plots' ? (
        <div className="grid grid-cols-3 gap-x-8 max-md:grid-cols-1">
          {plots.map((plot) => (
            <TimePlot
              key={plot.title}
              {...plot}
              {...(plot.title === 'Cost' && {
                isLarge: true,
                sum: <FiguresCost figures={usage.total} usage={usage} />,
                ...(ghost && { ghost }),
              })}
              isWhole={plot.title === 'Sessions' || plot.title === 'Tokens'}
              slots={slots}
              range={range}
              slot={slot}
              onSlot={setSlot}
              addressOf={(at, series) => hrefOf(sessionsOf(plane, at, series?.filter))}
            />
          ))}
        </div>
      ) : (
        <FigureTable usage={usage} groups={groups} slots={slots} plane={plane} label={LABELS[dimension]} />
      )}
      <div className="mt-3 text-12 text-muted">
        <ListPrices pricesOf={usage.pricesOf} />
        {usage.unpricedTokens > 0 && (
          <p>{formatShort(usage.unpricedTokens)} tokens of models without a known price are not included.</p>
        )}
      </div>
    </section>
  );
}
