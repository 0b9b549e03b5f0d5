import { setImmediate } from 'node:timers/promises';
import type { Batch, Outcome, StoreAppend } from '../appends.ts';
import { outcomeOf } from '../appends.ts';
import { storeUnavailable } from '../dialect.ts';
import type { Threads } from './driver.ts';
import { createLanes } from './lanes.ts';

interface Waiting {
  batch: Batch;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

/** What one commit takes at most, so that the first of its batches need not wait long: 4 MiB are written in about 10 ms. */
const LARGEST_GROUP = { count: 128, bytes: 4 * 1024 * 1024 };

/** Beyond this the store is too slow for what comes in, and says so. */
const MOST_WAITING = { count: 4_096, bytes: 64 * 1024 * 1024 };

/**
 * Appends that wait together share one commit, and so one fsync; they are answered after it. While one group is written,
 * the next one gathers.
 */
export function createGroupCommit({ writer, holdWriter }: Pick<Threads, 'writer' | 'holdWriter'>): StoreAppend {
  const lanes = createLanes<Waiting>();
  let draining = false;

  async function commit(): Promise<void> {
    const release = await holdWriter();
    const group = lanes.take(LARGEST_GROUP.count, LARGEST_GROUP.bytes);
    try {
      const batches = group.map(({ batch }) => batch);
      const settled = await writer.run({ kind: 'appends', batches });
      for (const [index, { resolve, reject }] of group.entries()) {
        try {
          resolve(outcomeOf(settled[index] ?? { failed: 'it was not answered' }));
        } catch (error) {
          reject(error);
        }
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      release();
    }
  }

  async function drain(): Promise<void> {
    // The requests that arrive in this turn of the event loop join the group.
    await setImmediate();
    while (lanes.count > 0) await commit();
    draining = false;
  }

  return (batch) =>
    new Promise((resolve, reject) => {
      const isFull = lanes.count >= MOST_WAITING.count || lanes.bytes >= MOST_WAITING.bytes;
      // One sender alone leaves room for the others.
      if (isFull || lanes.countOf(batch.lane) >= MOST_WAITING.count / 2) {
        return reject(storeUnavailable('too many appends wait for the store'));
      }
      lanes.add(batch.lane, batch.body.byteLength, { batch, resolve, reject });
      if (draining) return;
      draining = true;
      void drain();
    });
}
