import { type ReactNode, useState, useTransition } from 'react';
import { Button } from './button.tsx';
import { formatCount } from './format.ts';

/** How much of something is shown: at first `first`, and twice as much after each click, at most `most` more. */
export function useGrowing(first: number, most: number) {
  const [count, setCount] = useState(first);
  const [isPending, startTransition] = useTransition();
  /** @param shown what is shown now, where that is less than asked for */
  const grow = (shown = count) => startTransition(() => setCount(shown + Math.min(shown, most)));
  return { count, grow, isPending, startTransition };
}

interface MoreProps {
  /** How much is not shown. */
  left: number;
  /** What is counted, such as `lines`. */
  unit?: string;
  isPending?: boolean;
  onMore: () => void;
  /** Other ways on. */
  children?: ReactNode;
}

/** The line below something shown in part: how much is left, and a button that shows more. */
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

/** The first of a long list, and as many again at each click: a page with thousands of rows stands still for seconds. */
export function usePart<Item>(items: readonly Item[], first: number): { part: readonly Item[]; more: ReactNode } {
  const [asked, setAsked] = useState(first);
  if (items.length <= asked) return { part: items, more: null };
  const more = <More left={items.length - asked} onMore={() => setAsked(asked + first)} />;
  return { part: items.slice(0, asked), more };
}

interface WholeProps {
  isWhole: boolean;
  onToggle: () => void;
  /** What a click shows. */
  children: string;
}

/** Shows all of something, and its beginning again. */
export const ShowAll = ({ isWhole, onToggle, children }: WholeProps) => (
  <Button tone="quiet" size="small" onClick={onToggle}>
    {isWhole ? 'Show less' : children}
  </Button>
);
