import type { Figures, Usage } from '../../contract/review.ts';
import { Explained } from '../kit/explained.tsx';
import { formatCost, formatCount, formatShort } from '../kit/format.ts';
import { Pairs } from '../kit/pairs.tsx';
import { useNames } from '../shared/group-names.ts';
import { ListPrices } from '../shared/list-prices.tsx';

interface Props {
  figures: Figures;
  usage: Usage;
  className?: string;
}

/** The cost of many sessions, with its tokens and, for all sessions, the cost of each model. */
export function FiguresCost({ figures, usage, className }: Props) {
  const { cost, unpricedTokens = 0 } = figures;
  if (cost === undefined) return null;
  return (
    <Explained
      {...(className && { className })}
      label="How the cost is made"
      hint={`$${cost.toFixed(4)} at list prices; press for its parts`}
      explain={() => (
        <div className="cost-parts">
          {figures === usage.total && <Models usage={usage} />}
          <Pairs
            nameWidth={120}
            pairs={[
              { name: 'input', value: formatCount(figures.inputTokens - figures.cachedTokens) },
              { name: 'read from a cache', value: formatCount(figures.cachedTokens) },
              { name: 'output', value: formatCount(figures.outputTokens) },
            ]}
          />
          {unpricedTokens > 0 && (
            <p>{formatShort(unpricedTokens)} tokens of models without a known price are not included.</p>
          )}
          <p className="text-muted">The cost of a session shows its prices and the applied rules.</p>
          <ListPrices pricesOf={usage.pricesOf} />
        </div>
      )}
    >
      {formatCost(cost)}
    </Explained>
  );
}

function Models({ usage }: Pick<Props, 'usage'>) {
  const { nameOf } = useNames();
  const models = usage.groups
    .filter(({ dimension, cost }) => dimension === 'model' && cost !== undefined)
    .toSorted((one, other) => (other.cost ?? 0) - (one.cost ?? 0));
  return (
    <Pairs
      nameWidth={200}
      pairs={models.map((group) => ({ name: nameOf(group), value: formatCost(group.cost ?? 0) }))}
    />
  );
}
