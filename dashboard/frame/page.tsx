import type { ReactNode } from 'react';
import { showHidden } from '../kit/text/controls.ts';
import { Heading } from './heading.tsx';

interface Props {
  title: string;
  /** One line with facts for which the title has no room. */
  context?: ReactNode;
  actions?: ReactNode;
  /** `content`: as wide as plots can be and still be compared. true: the full width. */
  wide?: boolean | 'content';
  children: ReactNode;
}

/** A page: title, one line of context, actions at the right, content below. */
export function Page({ title, context, actions, wide, children }: Props) {
  return (
    <div
      className={`page px-6 pt-5 pb-16 max-sm:px-4 max-sm:pt-3.5 ${wide === true ? '' : wide ? 'max-w-[1720px]' : 'max-w-[1248px]'}`}
    >
      <title>{`${showHidden(title)} · Session Capture`}</title>
      <header className="mb-4 flex min-h-8 flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <Heading className="text-20 max-sm:pl-10">{showHidden(title)}</Heading>
          {context && <p className="mt-1 text-13 text-muted">{context}</p>}
        </div>
        <div className="flex gap-2">{actions}</div>
      </header>
      {children}
    </div>
  );
}
