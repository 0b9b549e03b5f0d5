import { type KeyboardEvent, type ReactNode, Suspense, useId, useRef, useState } from 'react';
import { Boundary } from './boundary.tsx';

interface Props {
  /** US dollars. */
  cost: number;
  /** What is pressed. */
  children: ReactNode;
  /** Made when it is opened, because most costs are never pressed. */
  explain: () => ReactNode;
  className?: string;
  /** -1 within a list whose rows take the focus. */
  tabIndex?: number;
}

/** A cost with an explanation, which opens with a press, a tap or a key, and closes with Escape or a press elsewhere. */
export function Explained({ cost, children, explain, className = '', tabIndex }: Props) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const explanation = useRef<HTMLDivElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  // The page uses Escape, too, and the browser closes nothing if the page has used the key.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return;
    event.stopPropagation();
    explanation.current?.hidePopover();
    button.current?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={`explained ${className}`}
        popoverTarget={id}
        aria-expanded={isOpen}
        title={`$${cost.toFixed(4)} at list prices; press for its parts`}
        onKeyDown={onKeyDown}
        {...(tabIndex !== undefined && { tabIndex })}
      >
        {children}
      </button>
      <div
        ref={explanation}
        id={id}
        popover="auto"
        role="dialog"
        aria-label="How the cost is made"
        className="explanation"
        onClick={(event) => event.stopPropagation()}
        onKeyDown={onKeyDown}
        onBeforeToggle={({ currentTarget, newState }) => {
          setIsOpen(newState === 'open');
          if (newState === 'open' && button.current) place(currentTarget, button.current.getBoundingClientRect());
        }}
      >
        {isOpen && (
          <Boundary of="The explanation">
            <Suspense fallback={<p className="text-muted">Reading…</p>}>{explain()}</Suspense>
          </Boundary>
        )}
      </div>
    </>
  );
}

/** Pixels between the cost, its explanation and the edges of the window. */
const GAP = 4;
const EDGE = 8;
/** In a window narrower than this, the explanation has the whole width. */
const NARROW = 640;

/** Below the cost, or above it if there is more room; within the window, although the explanation may still grow. */
function place({ style }: HTMLElement, { left, right, top, bottom }: DOMRect): void {
  const { innerWidth, innerHeight } = window;
  const isNarrow = innerWidth < NARROW;
  const isLeft = left + right < innerWidth;
  const isBelow = top + bottom < innerHeight;
  style.left = isNarrow ? `${EDGE}px` : isLeft ? `${left}px` : 'auto';
  style.right = isNarrow ? `${EDGE}px` : isLeft ? 'auto' : `${innerWidth - right}px`;
  style.width = isNarrow ? 'auto' : 'max-content';
  style.maxWidth = isNarrow ? 'none' : `${(isLeft ? innerWidth - left : right) - EDGE}px`;
  style.top = isBelow ? `${bottom + GAP}px` : 'auto';
  style.bottom = isBelow ? 'auto' : `${innerHeight - top + GAP}px`;
  style.maxHeight = `${(isBelow ? innerHeight - bottom : top) - GAP - EDGE}px`;
}
