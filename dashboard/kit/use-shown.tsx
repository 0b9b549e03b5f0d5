import { type ReactNode, useState, useTransition } from 'react';
import { Button } from './button.tsx';
import { formatCount } from './format.ts';
import { cutAt } from './text/pieces.ts';

/** A click adds at most so many characters, which are drawn between two frames. */
const MOST_ADDED = 120_000;

/** How much of a text is shown: its beginning, as much again at each click, and its end where that is asked for. */
export interface Shown {
  head: string;
  /** The last characters, and nothing in between. */
  tail: string | undefined;
  /** The buttons that show more, with how much is left; nothing where all is shown. */
  more: ReactNode;
}

export function useShown(text: string, first: number): Shown {
  const [asked, setAsked] = useState(first);
  const [isEndShown, setEndShown] = useState(false);
  const [isPending, startTransition] = useTransition();
  const end = cutAt(text, 0, asked);
  const tailAt = isEndShown ? Math.max(end, cutAt(text, end, text.length - first)) : text.length;
  const left = tailAt - end;
  if (left <= 0) return { head: text, tail: undefined, more: null };
  const more = (
    <p className="show-more">
      <Button
        size="small"
        disabled={isPending}
        onClick={() => startTransition(() => setAsked(end + Math.min(end, MOST_ADDED)))}
      >
        Show more
      </Button>
      {!isEndShown && (
        <Button size="small" onClick={() => startTransition(() => setEndShown(true))}>
          Show the end
        </Button>
      )}
      <span>{formatCount(left)} characters left</span>
    </p>
  );
  return { head: text.slice(0, end), tail: isEndShown ? text.slice(tailAt) : undefined, more };
}
