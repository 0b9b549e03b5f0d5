import type { ReactNode } from 'react';
import type { Kind } from './model/kinds.ts';

interface Props {
  isOpen: boolean;
  onToggle: () => void;
  label?: string;
  muted?: boolean;
  /** Told by a tick of colour. */
  kind?: Kind;
  children: ReactNode;
}

/** The same for all rows, of which a fast wheel brings a hundred a second: `ChevronRight` of the icons would be made anew. */
const CHEVRON = (
  <svg aria-hidden viewBox="0 0 24 24" className="fold-chevron">
    <path d="m9 18 6-6-6-6" />
  </svg>
);

/** A line that opens. It takes no focus: its row has it, whose keys open it, too. */
export function Fold({ isOpen, onToggle, label, muted, kind, children }: Props) {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-expanded={isOpen}
      aria-label={label}
      onClick={({ currentTarget, shiftKey }) => {
        // Its row ends a range.
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
