import { setTimeout as pause } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import { WORKERS } from './streams.ts';

/** The end of a stream that has lost its last messages. */
export interface Loss {
  /** The sequence of the last message that is left. */
  last: number;
  /** Whether the workers' position is behind it: they would skip as many new messages. */
  isSkipping: boolean;
}

/** How long after a look the next one starts, if it has no answer. */
export const LOOK_MS = 250;
/** How long after the first look the second one follows, since a new leader of a cluster may not know the last messages yet. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Looks whether a bus that is connected again still has its last messages. A bus that lost power may have lost them, while the
 * position of the workers, which it stores elsewhere, is left.
 * @param newest the sequence of the last message that this process has published; 0: none
 */
export async function findLoss(manager: JetStreamManager, name: string, newest: number): Promise<Loss | undefined> {
  const look = async () => {
    // The position is read first, because the stream may grow meanwhile.
    const { delivered } = await manager.consumers.info(name, WORKERS);
    const { state } = await manager.streams.info(name);
    const isLoss = state.last_seq < Math.max(newest, delivered.stream_seq);
    return isLoss ? { last: state.last_seq, isSkipping: delivered.stream_seq > state.last_seq } : undefined;
  };
  if (!(await look())) return undefined;
  await pause(LOOK_AGAIN_MS, undefined, { ref: false });
  return look();
}

/**
 * Looks until the first answer. It does not wait for the others: a cluster without a leader loses requests, and each waits 3 s for its
 * answer.
 * @param isPresent whether the connection is still the same; if not, nothing was found
 */
export async function untilLooked(
  look: () => Promise<Loss | undefined>,
  isPresent: () => boolean,
): Promise<Loss | undefined> {
  const looked = Promise.withResolvers<Loss | undefined>();
  const isOver = looked.promise.then(() => true);
  for (let isLooked = false; isPresent() && !isLooked; ) {
    look().then(looked.resolve, () => undefined);
    isLooked = await Promise.race([isOver, pause(LOOK_MS, false, { ref: false })]);
  }
  return isPresent() ? looked.promise : undefined;
}
