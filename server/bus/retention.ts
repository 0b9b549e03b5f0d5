import type { Bus } from './bus.ts';
import { WORKERS } from './streams.ts';

/** How long written messages stay on the bus. Older entries are read from the store. */
export const KEPT_MS = 24 * 60 * 60 * 1_000;

/**
 * Removes old messages that are settled. Unsettled messages stay at any age. An age limit on the stream itself
 * would lose events during a longer outage of the store.
 * @param limit milliseconds since the epoch; messages before it are old
 */
export async function removeOld(bus: Bus, limit: number): Promise<void> {
  const { name, manager } = bus;
  const { state } = await manager.streams.info(name);
  const { ack_floor: settled } = await manager.consumers.info(name, WORKERS);
  let [oldest, newest] = [state.first_seq, settled.stream_seq + 1];
  // A binary search for the first message that must stay, since the stream is ordered by time.
  while (oldest < newest) {
    const middle = Math.floor((oldest + newest) / 2);
    // Messages in between may be missing, so the next existing one gives the time.
    const message = await bus.messageFrom(middle);
    if (!message || message.time.getTime() >= limit) newest = middle;
    else oldest = message.seq + 1;
  }
  if (oldest > state.first_seq) await manager.streams.purge(name, { seq: oldest });
}
