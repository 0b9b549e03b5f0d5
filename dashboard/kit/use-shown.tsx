import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { More, useGrowing } from './more.tsx';
import { cutAt } from './text/pieces.ts';

/** A click adds at most so many characters, which are drawn between two frames. */
const MOST_ADDED = 120_000;

/** How much of a text is shown: its beginning, twice as much after each click, and its end on request. */
export interface Shown {
  head: string;
  /** The last characters, and nothing in between. */
  tail: string | undefined;
  /** The buttons that show more, with how much is left; nothing where all is shown. */
  more: ReactNode;
}

export function useShown(text: string, first: number): Shown {
  const { count, grow, isPending, startTransition } = useGrowing(first, MOST_ADDED);
  const [isEndShown, setEndShown] = useState(false);
  const end = cutAt(text, 0, count);
  const tailAt = isEndShown ? Math.max(end, cutAt(text, end, text.length - first)) : text.length;
  const left = tailAt - end;
  if (left <= 0) return { head: text, tail: undefined, more: null };
  const more = (
    <More left={left} unit="characters" isPending={isPending} onMore={() => grow(end)}>
      {!isEndShown && (
        <Button size="small" onClick={() => startTransition(() => setEndShown(true))}>
          Show the end
        </Button>
      )}
    </More>
  );
  return { head: text.slice(0, end), tail: isEndShown ? text.slice(tailAt) : undefined, more };
}
