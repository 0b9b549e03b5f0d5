export interface Attempts {
  /**
   * Counts one attempt under each key.
   * @returns seconds to wait when one of the keys has had too many, else 0
   */
  take(...keys: readonly string[]): number;
  /** Forgives all that was counted under the key. */
  forgive(key: string): void;
  /** Takes one attempt back, which turned out to be none. */
  giveBack(key: string): void;
}

const WINDOW_MS = 15 * 60_000;
const MOST_KEYS = 20_000;

/**
 * Counts attempts in memory: each replica counts for itself, and a restart forgives. Attempts are counted before they are
 * tried, so that many at once gain nothing.
 */
export function createAttempts(most: number, now: () => number): Attempts {
  interface Count {
    taken: number;
    until: number;
  }
  const counts = new Map<string, Count>();

  function count(key: string): Count {
    const known = counts.get(key);
    if (known && known.until > now()) return known;
    if (counts.size >= MOST_KEYS) dropExpired();
    const fresh = { taken: 0, until: now() + WINDOW_MS };
    counts.delete(key);
    counts.set(key, fresh);
    return fresh;
  }

  /** Under a flood of fresh keys the oldest make room. */
  function dropExpired(): void {
    for (const [key, { until }] of counts) if (until <= now()) counts.delete(key);
    for (const key of counts.keys()) {
      if (counts.size < MOST_KEYS) return;
      counts.delete(key);
    }
  }

  return {
    take(...keys) {
      const waits = keys.map((key) => {
        const entry = count(key);
        entry.taken++;
        return entry.taken > most ? Math.ceil((entry.until - now()) / 1000) : 0;
      });
      return Math.max(0, ...waits);
    },
    forgive: (key) => void counts.delete(key),
    giveBack(key) {
      const known = counts.get(key);
      if (known && known.taken > 0) known.taken--;
    },
  };
}
