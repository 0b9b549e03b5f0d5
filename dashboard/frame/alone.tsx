import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { paths } from '../../contract/pages.ts';
import { Heading } from './heading.tsx';
import { Wordmark } from './wordmark.tsx';

interface Props {
  title: string;
  about: string;
  /** Whether the person is a member and can continue to the dashboard. */
  isMember: boolean;
  children: ReactNode;
}

/** A page without the frame, the same before and after a person joins, so that nothing moves when they do. */
export function AlonePage({ title, about, isMember, children }: Props) {
  return (
    <main className="mx-auto flex max-w-[640px] flex-col gap-8 px-6 py-12">
      <title>{`${title} · Session Capture`}</title>
      <header className="flex flex-col gap-3">
        <div className="flex h-6 items-center justify-between">
          <Wordmark />
          {isMember && (
            <Link to={paths.home()} className="link text-13">
              To the dashboard
            </Link>
          )}
        </div>
        <Heading className="text-20">{title}</Heading>
        <p className="text-muted">{about}</p>
      </header>
      {children}
    </main>
  );
}
