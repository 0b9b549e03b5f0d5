import { useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Runs `does` if the address has this hash, for instance to open a dialog. */
export function useHash(name: string, does: () => void): void {
  const hash = useRouterState({ select: ({ location }) => location.hash });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each address, however often the page renders
  useEffect(() => {
    if (hash === name) does();
  }, [hash, name]);
}
