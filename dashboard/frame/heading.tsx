import { useRouter, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';

interface Props {
  className: string;
  /** The whole text, where the page may cut it. */
  title?: string;
  children: ReactNode;
}

/** What a router has shown: the path of its first page, and whether it has opened another page since. */
interface Visit {
  first: string | undefined;
  hasLeft: boolean;
}

const visits = new WeakMap<object, Visit>();

/**
 * The heading of a page. An element that opened the page is often gone with the page before, such as a row of a list. The focus
 * would then be at the top of the document, and a screen reader would be silent, so the heading takes it. The first page leaves
 * the focus where the browser begins.
 */
export function Heading({ className, title, children }: Props) {
  const router = useRouter();
  const path = useRouterState({ select: ({ matches }) => matches.at(-1)?.pathname });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const visit = visits.get(router) ?? { first: path, hasLeft: false };
    visits.set(router, visit);
    visit.hasLeft ||= path !== visit.first;
    if (visit.hasLeft && isFocusFree()) heading.current?.focus({ preventScroll: true });
  }, [router, path]);
  return (
    <h1 ref={heading} tabIndex={-1} className={className} title={title}>
      {children}
    </h1>
  );
}

/** Whether no element has the focus because the person chose it. */
export const isFocusFree = (): boolean =>
  document.activeElement === document.body || document.activeElement?.matches('h1') === true;
