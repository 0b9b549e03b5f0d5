import { type ReactNode, useState, useTransition } from 'react';
import { Button } from './button.tsx';
import { formatCount } from './format.ts';

/** The shown amount of a long content: `first` at first, doubled with each click, by at most `most`. */
export function useGrowing(first: number, most: number) {
  const [count, setCount] = useState(first);
  const [isPending, startTransition] = useTransition();
  /** @param shown the amount that is actually shown, if it is less than `count` */
  const grow = (shown = count) => startTransition(() => setCount(shown + Math.min(shown, most)));
  return { count, grow, isPending, startTransition };
}

interface MoreProps {
  /** The amount that is not shown. */
  left: number;
  /** The unit of the amount, such as `lines`. */
  unit?: string;
  isPending?: boolean;
  onMore: () => void;
  /** Other buttons. */
  children?: ReactNode;
}

/** The line below a content that is shown in part: the amount that is left, and a button that shows more. */
export const More = ({ left, unit, isPending = false, onMore, children }: MoreProps) => (
  <p className="show-more">
    <Button size="small" disabled={isPending} onClick={onMore}>
      Show more
    </Button>
    {children}
    <span>
      {formatCount(left)} {unit && `${unit} `}left
    </span>
  </p>
);

/** The first items of a long list, and as many again with each click. A page with thousands of rows would freeze for seconds. */
export function usePart<Item>(items: readonly Item[], first: number): { part: readonly Item[]; more: ReactNode } {
  const [asked, setAsked] = useState(first);
  if (items.length <= asked) return { part: items, more: null };
  const more = <More left={items.length - asked} onMore={() => setAsked(asked + first)} />;
  return { part: items.slice(0, asked), more };
}

interface WholeProps {
  isWhole: boolean;
  onToggle: () => void;
  /** The label of the button. */
  children: string;
}

/** A button that switches between the whole content and its beginning. */
export const ShowAll = ({ isWhole, onToggle, children }: WholeProps) => (
  <Button tone="quiet" size="small" onClick={onToggle}>
    {isWhole ? 'Show less' : children}
  </Button>
);
