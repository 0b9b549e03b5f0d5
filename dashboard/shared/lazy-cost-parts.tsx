import { type ComponentProps, Suspense } from 'react';
import { Boundary } from '../kit/boundary.tsx';
import { lazyPart } from '../kit/lazy.tsx';

/** Loaded with the first cost that is pressed, since no page needs the parts to be drawn. */
const Loaded = lazyPart(() => import('./cost-parts.tsx'), 'CostParts');

export const CostParts = (props: ComponentProps<typeof Loaded>) => (
  <Boundary of="The explanation">
    <Suspense fallback={<p className="text-muted">Reading…</p>}>
      <Loaded {...props} />
    </Suspense>
  </Boundary>
);
