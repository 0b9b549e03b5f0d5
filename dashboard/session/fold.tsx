import type { ReactNode } from 'react';
import type { Kind } from './model/kinds.ts';

interface Props {
  isOpen: boolean;
  onToggle: () => void;
  label?: string;
  muted?: boolean;
  /** Shown as a coloured tick. */
  kind?: Kind;
  children: ReactNode;
}

/** One element for all rows. Fast scrolling draws a hundred rows a second, and `ChevronRight` would be created for each. */
const CHEVRON = (
  <svg aria-hidden viewBox="0 0 24 24" className="fold-chevron">
    <path d="m9 18 6-6-6-6" />
  </svg>
);

/** A line that opens and closes. It takes no focus: its row has the focus, and the row's keys open it as well. */
export function Fold({ isOpen, onToggle, label, muted, kind, children }: Props) {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-expanded={isOpen}
      aria-label={label}
      onClick={({ currentTarget, shiftKey }) => {
        // A click with Shift ends a range at the row.
        if (shiftKey) return;
        onToggle();
        currentTarget.closest<HTMLElement>('.timeline-row')?.focus({ preventScroll: true });
      }}
      data-kind={kind}
      className={`fold ${muted ? 'text-muted' : ''}`}
    >
      {CHEVRON}
      {children}
    </button>
  );
}
