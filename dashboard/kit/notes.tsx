import type { ReactNode } from 'react';

/** An empty state: what will appear here, and how to make it appear. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex max-w-[560px] flex-col items-start gap-3 py-10">
      <h2 className="text-14">{title}</h2>
      <div className="flex w-full flex-col items-start gap-3 text-muted">{children}</div>
    </div>
  );
}

/** A note above the page. Its place is there before its words, so that screen readers tell them. */
export const FloatingNote = ({ children }: { children: ReactNode }) => (
  <div role="status" className="fixed bottom-4 left-1/2 z-30 -translate-x-1/2">
    {children && (
      <p className="flex w-max max-w-[calc(100vw-32px)] items-center gap-2 rounded-md border border-line bg-raised px-3 py-2 text-13 shadow-float">
        {children}
      </p>
    )}
  </div>
);

/** Grey lines, shown while data loads. */
export function Waiting({ label, rows = 8 }: { label: string; rows?: number }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all lines are the same
        <div key={index} className="flex h-[var(--row)] items-center border-line border-b">
          <div className="pulse h-2 w-1/3 rounded-sm bg-line" />
        </div>
      ))}
    </div>
  );
}
