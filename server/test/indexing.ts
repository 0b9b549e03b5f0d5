import type { SliceJob } from '../derive/derive-slice.ts';
import { Indexer, type IndexerOptions } from '../derive/indexer.ts';
import { createDeriveHere, VERSION_HERE } from './derived.ts';
import type { TestStore } from './engines.ts';

/** Derives on this thread; records its jobs, and can be paused or made to fail. */
function createDerive() {
  const deriveHere = createDeriveHere();
  const seen = { jobs: [] as SliceJob[], gate: Promise.resolve(), fails: (_: SliceJob) => false };
  const thread = {
    async derive(job: SliceJob) {
      seen.jobs.push(structuredClone(job));
      await seen.gate;
      if (seen.fails(job)) throw new Error('nobody can read that');
      return deriveHere(job);
    },
  };
  return { seen, thread };
}

/** Pauses deriving. @returns a function that resumes it */
export function shut(seen: { gate: Promise<void> }): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  seen.gate = promise;
  return resolve;
}

/** An indexer that derives on this thread, with what it did. */
export function startIndexer({ db }: TestStore, options: Partial<IndexerOptions> = {}) {
  const { seen, thread } = createDerive();
  const errors: unknown[] = [];
  const told: string[] = [];
  const indexer = new Indexer({
    ...{ db, thread, version: VERSION_HERE, now: Date.now, rests: false },
    onError: (error) => void errors.push(error),
    onDerived: ({ session_id }) => void told.push(session_id),
    ...options,
  });
  return { indexer, seen, errors, told };
}
