import type { Entries, Entry } from './entry.ts';

/**
 * Gives entries whose agent did not say when the time of the one before them: when they were stored says nothing, since
 * history is captured long after it happened.
 */
export function settleTimes(entries: Entries): (Entry | undefined)[] {
  const latest = new Map<string | undefined, number>();
  for (const entry of entries) if (entry?.timed && !latest.has(entry.lane)) latest.set(entry.lane, entry.time);
  return entries.map((entry) => {
    if (!entry) return undefined;
    if (entry.timed) {
      latest.set(entry.lane, entry.time);
      return entry;
    }
    const time = latest.get(entry.lane) ?? latest.get(undefined);
    return time === undefined ? entry : { ...entry, time };
  });
}
