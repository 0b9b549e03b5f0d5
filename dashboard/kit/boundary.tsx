import { CatchBoundary } from '@tanstack/react-router';
import { CircleAlert } from 'lucide-react';
import { createContext, type ReactNode, useContext } from 'react';

interface Props {
  /** The name of the content, as the beginning of a sentence: `This event`. */
  of: string;
  /** A new value draws the content again. It is often the id of the content. */
  resetKey?: string | number;
  /** An alternative, such as a button that opens the raw JSON. */
  instead?: ReactNode;
  /** Shown in place of the error line. */
  fallback?: ReactNode;
  children: ReactNode;
}

const Fallback = createContext<ReactNode>(null);

/** An error boundary: content that fails to render becomes one line, and everything around it stays. */
export function Boundary({ of, resetKey = '', instead, fallback, children }: Props) {
  const line = (
    <p role="note" className="flex items-center gap-2 py-1 text-13 text-bad">
      <CircleAlert size={14} aria-hidden className="flex-none" />
      {of} cannot be shown.
      {instead}
    </p>
  );
  return (
    <Fallback value={fallback ?? line}>
      <CatchBoundary getResetKey={() => resetKey} errorComponent={ShowFallback}>
        {children}
      </CatchBoundary>
    </Fallback>
  );
}

const ShowFallback = () => useContext(Fallback);
