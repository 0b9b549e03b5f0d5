import type { ReactNode } from 'react';

/** In the line of facts, it is as wide as there is room. Opened, it gets a line of its own. */
const LOOK =
  'min-w-30 flex-initial truncate open:max-h-40 open:basis-full open:overflow-auto open:whitespace-normal open:[overflow-wrap:anywhere]';

interface Props {
  summary: ReactNode;
  /** The name of the list. */
  label: string;
  children: ReactNode;
}

/** A fact of the header that opens to a list. */
export const HeaderDetails = ({ summary, label, children }: Props) => (
  <details className={LOOK}>
    <summary>{summary}</summary>
    <ul aria-label={label} className="flex flex-col gap-1 pb-1 pl-4">
      {children}
    </ul>
  </details>
);
