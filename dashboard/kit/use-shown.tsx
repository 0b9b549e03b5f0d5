import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { More, useGrowing } from './more.tsx';
import { cutAt } from './text/pieces.ts';

/** A click adds at most this many characters, which can be drawn between two frames. */
const MAX_ADDED = 120_000;

/** The shown part of a text: its beginning, which doubles with each click, and its end on request. */
export interface Shown {
  head: string;
  /** The last characters. The text between the head and the tail is not shown. */
  tail: string | undefined;
  /** The buttons that show more, with the amount that is left; nothing if the whole text is shown. */
  more: ReactNode;
}

export function useShown(text: string, first: number): Shown {
  const { count, grow, isPending, startTransition } = useGrowing(first, MAX_ADDED);
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
