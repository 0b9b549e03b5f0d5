/** What a reader opened and closed in sessions, kept by the browser for those that were read last. */
const NAME = 'folds';
const MOST_SESSIONS = 30;

export interface Folds {
  /** Everything is open but what was closed, or the other way round. */
  preset: boolean;
  chosen: ReadonlyMap<string, boolean>;
}

type Kept = [sessionId: string, preset: boolean, chosen: [string, boolean][]][];

function readAll(): Kept {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(kept) ? (kept as Kept) : [];
  } catch {
    return [];
  }
}

export function readFolds(sessionId: string): Folds {
  const [, preset = false, chosen = []] = readAll().find(([id]) => id === sessionId) ?? [];
  return { preset, chosen: new Map(chosen) };
}

export function keepFolds(sessionId: string, { preset, chosen }: Folds): void {
  const others = readAll().filter(([id]) => id !== sessionId);
  const kept: Kept = [[sessionId, preset, [...chosen].slice(-1000)], ...others];
  try {
    localStorage.setItem(NAME, JSON.stringify(kept.slice(0, MOST_SESSIONS)));
  } catch {
    // Kept for this visit only.
  }
}
