import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { formatCount } from './format.ts';

/** The first of a long list, and as many again at each click: a page with thousands of rows stands still for seconds. */
export function usePart<Item>(items: readonly Item[], first: number): { part: readonly Item[]; more: ReactNode } {
  const [asked, setAsked] = useState(first);
  if (items.length <= asked) return { part: items, more: null };
  const more = (
    <p className="show-more">
      <Button size="small" onClick={() => setAsked(asked + first)}>
        Show more
      </Button>
      <span>{formatCount(items.length - asked)} left</span>
    </p>
  );
  return { part: items.slice(0, asked), more };
}
