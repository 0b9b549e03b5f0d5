import type { Figures, Usage } from '../../contract/review.ts';
import { Explained } from '../kit/explained.tsx';
import { formatCost } from '../kit/format.ts';
import { lazyPart } from '../kit/lazy.tsx';

/** Loaded with the first cost that is pressed. */
const Parts = lazyPart<{ figures: Figures; usage: Usage }, 'FiguresCostParts'>(
  () => import('../shared/cost-parts.tsx'),
  'FiguresCostParts',
);

/** The cost of many sessions, with its parts. */
export function FiguresCost({ figures, usage }: { figures: Figures; usage: Usage }) {
  const { cost } = figures;
  if (cost === undefined) return null;
  return (
    <Explained cost={cost} explain={() => <Parts figures={figures} usage={usage} />}>
      {formatCost(cost)}
    </Explained>
  );
}
