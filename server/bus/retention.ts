import type { Bus } from './bus.ts';
import { WORKERS } from './streams.ts';

/** What was written to the store stays on the bus for so long: by then a session without events is asked of the store. */
export const KEPT_MS = 24 * 60 * 60 * 1_000;

/**
 * Removes what is older, and nothing that no worker has settled, however old that is: a limit of age that the bus itself
 * kept would lose events when the store is away for longer.
 * @param before milliseconds since the epoch
 */
export async function removeOld({ name, manager }: Bus, before: number): Promise<void> {
  const { state } = await manager.streams.info(name);
  const { ack_floor: settled } = await manager.consumers.info(name, WORKERS);
  let [oldest, newest] = [state.first_seq, settled.stream_seq + 1];
  // The first message that is to stay: the stream is in order of time.
  while (oldest < newest) {
    const middle = Math.floor((oldest + newest) / 2);
    const message = await manager.streams.getMessage(name, { seq: middle });
    if (message && message.time.getTime() >= before) newest = middle;
    else oldest = middle + 1;
  }
  if (oldest > state.first_seq) await manager.streams.purge(name, { seq: oldest });
}
