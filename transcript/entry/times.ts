import type { Entries, Entry } from './entry.ts';

/**
 * If an agent recorded no time for an entry, the entry gets the time of the previous one. The time of storage says nothing,
 * because history is captured long after it happened.
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
