import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Kind } from '../../timeline/kinds.ts';

interface Props {
  isOpen: boolean;
  onToggle: () => void;
  label?: string;
  muted?: boolean;
  /** Told by a tick of colour. */
  kind?: Kind;
  children: ReactNode;
}

/** A line that opens. It is no stop of the Tab key of its own: its row is one, whose keys open it. */
export function Fold({ isOpen, onToggle, label, muted, kind, children }: Props) {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-expanded={isOpen}
      aria-label={label}
      onClick={onToggle}
      data-kind={kind}
      className={`fold ${muted ? 'text-muted' : ''}`}
    >
      <ChevronRight size={14} aria-hidden className={`flex-none text-muted ${isOpen ? 'rotate-90' : ''}`} />
      {children}
    </button>
  );
}
