import { useRouter } from '@tanstack/react-router';
import { type MouseEvent, useCallback } from 'react';

/**
 * Lists and plots have hundreds of plain links; a router component for each of them would be too slow.
 * @returns a click listener for their container, which follows a link without reloading the page
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
