import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';

interface Props {
  isOpen: boolean;
  onToggle: () => void;
  label?: string;
  muted?: boolean;
  children: ReactNode;
}

/** A line that opens. */
export function Fold({ isOpen, onToggle, label, muted, children }: Props) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-label={label}
      onClick={onToggle}
      className={`fold ${muted ? 'text-muted' : ''}`}
    >
      <ChevronRight size={14} aria-hidden className={`flex-none text-muted ${isOpen ? 'rotate-90' : ''}`} />
      {children}
    </button>
  );
}
