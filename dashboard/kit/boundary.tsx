import { CatchBoundary } from '@tanstack/react-router';
import { CircleAlert } from 'lucide-react';
import { createContext, type ReactNode, useContext } from 'react';

interface Props {
  /** What cannot be shown if it fails, as the beginning of a sentence: `This event`. */
  of: string;
  /** A change of this draws the content again. Often the id of the content. */
  resetKey?: string | number;
  /** Another way to the data, such as a button that opens its raw JSON. */
  instead?: ReactNode;
  /** In place of the line, where something better can be shown. */
  fallback?: ReactNode;
  children: ReactNode;
}

const Fallback = createContext<ReactNode>(null);

/** Keeps what fails while it is drawn to its own place: one line there, and everything around it stays. */
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
