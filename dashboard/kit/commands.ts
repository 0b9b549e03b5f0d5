import type { LucideIcon } from 'lucide-react';
import { useEffect, useRef, useSyncExternalStore } from 'react';

/** A command that a person can run by its name from the palette (Ctrl-K). */
export interface Command {
  label: string;
  icon: LucideIcon;
  does: () => unknown;
}

/** The commands of each part of the page. */
let offers: readonly (readonly Command[])[] = [];
let shown: readonly Command[] = [];
const watchers = new Set<() => void>();

function setOffers(next: typeof offers): void {
  offers = next;
  shown = next.flat();
  for (const watcher of watchers) watcher();
}

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Offers commands while this part of the page is shown. Their labels and number are fixed; their functions may change. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    const offer = latest.current.map((command, at) => ({ ...command, does: () => latest.current[at]?.does() }));
    setOffers([...offers, offer]);
    return () => setOffers(offers.filter((each) => each !== offer));
  }, []);
}

/** The commands of the current page. */
export const usePageCommands = (): readonly Command[] => useSyncExternalStore(subscribe, () => shown);
