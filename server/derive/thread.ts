import { OnDemand } from '../on-demand.ts';
import type { Job, Reply } from './derive-thread.ts';
import type { Piece, PieceJob } from './piece.ts';

/** The heavy part of deriving, on a thread of its own. */
export interface DeriveThread {
  /** @returns undefined where the earlier entries are needed, which were not given */
  derive(job: PieceJob): Promise<Piece | undefined>;
  /** What sessions cost of which these are the facts; null where no price is known. */
  price(facts: string[]): Promise<(number | null)[]>;
  close(): Promise<void>;
}

/** A job takes 10 to 100 ms on an idle processor. One that takes this long is in a loop, or its thread is starved. */
const DEADLINE_MS = 60_000;

const PROGRAM = new URL('./derive-thread.ts', import.meta.url);

/** What goes over to the thread, and cannot be used after that. */
export const memoryOf = ({ appends, earlier = [] }: PieceJob): ArrayBuffer[] =>
  [...appends.map(({ body }) => body), ...earlier].map(({ buffer }) => buffer as ArrayBuffer);

/** @param pricesFile as for `readPrices` */
export function createDeriveThread(pricesFile?: string): DeriveThread {
  const thread = new OnDemand<Job, Reply>({
    program: PROGRAM,
    name: 'indexer',
    workerData: pricesFile,
    deadlineMs: DEADLINE_MS,
  });

  async function ask(job: Job, memory: readonly ArrayBuffer[] = []): Promise<never> {
    const reply = await thread.ask(job, memory);
    if ('error' in reply) throw new Error(`a session could not be derived: ${reply.error}`);
    return reply.answer as never;
  }

  return {
    derive: (job) => ask(job, memoryOf(job)),
    price: (priced) => ask({ priced }),
    close: () => thread.close(),
  };
}
