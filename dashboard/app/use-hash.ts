import { useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Does what the address asks for behind its `#`, such as opening a dialog of the page. */
export function useHash(name: string, does: () => void): void {
  const hash = useRouterState({ select: ({ location }) => location.hash });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for an address, whatever is drawn anew
  useEffect(() => {
    if (hash === name) does();
  }, [hash, name]);
}
