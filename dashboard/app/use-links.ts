import { useRouter } from '@tanstack/react-router';
import { type MouseEvent, useCallback } from 'react';

/**
 * Lists and plots have hundreds of plain links, for each of which a component of the router would be too much.
 * @returns a listener for what holds them: it follows a link without loading the page anew
 */
export function useLinks(): (event: MouseEvent) => void {
  const router = useRouter();
  return useCallback(
    (event) => {
      const href = event.target instanceof Element && event.target.closest('a')?.getAttribute('href');
      if (!href || event.defaultPrevented || event.button !== 0) return;
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      router.history.push(href);
    },
    [router],
  );
}
