import type { ComponentProps } from 'react';
import { Scroll } from '../kit/scroll.tsx';

/** The content of a view beside the timeline. Padding above it would keep sticky heads away from the top. */
export const ViewArea = (props: Omit<ComponentProps<typeof Scroll>, 'className'>) => (
  <Scroll
    {...props}
    className="@container/view min-h-0 min-w-0 flex-1 overflow-y-auto bg-surface px-5 pb-24 max-sm:px-3 *:first:mt-4"
  />
);
