import { IdleWorker, type JobAsker } from '../../idle-worker.ts';
import { Damaged } from '../../log/damaged.ts';
import type { StoredAppend } from '../../store/events.ts';
import { type SessionTexts, TEXT_COLUMNS } from '../../store/session-columns.ts';
import { replaceEach } from './finder.ts';
import type { Reply, Request, Wanted } from './mask-program.ts';

/** A request takes a second on a busy processor. One that takes this long is in a loop, or its thread gets no processor time. */
const DEADLINE_MS = 50_000;
/** Maskers live in the thread, and a mask may pause for half a minute while it waits for events to reach the store. */
const IDLE_MS = 300_000;

const PROGRAM = new URL('./mask-program.ts', import.meta.url);

/** Masks events on a separate thread. */
export class MaskThread {
  readonly #thread = new IdleWorker<Request, Reply>({
    program: PROGRAM,
    name: 'masking',
    deadlineMs: DEADLINE_MS,
    idleMs: IDLE_MS,
  });
  #begun = 0;

  /** Creates a masker for the appends of one session, which must be added in order. The caller must call `drop` at the end. */
  async begin(wanted: Wanted, asker: JobAsker): Promise<Masker> {
    const masker = ++this.#begun;
    const ask = async (request: RequestOf, by = asker) => {
      const reply = await this.#thread.ask({ masker, ...request }, by);
      if (reply.error === undefined) return reply;
      const reason = `a session could not be masked: ${reply.error}`;
      throw reply.isDamage ? new Damaged(reason) : new Error(reason);
    };
    await ask({ kind: 'begin', wanted });
    return {
      add: (appends) => ask({ kind: 'add', appends }),
      end: () => ask({ kind: 'end' }),
      async maskFields(before) {
        const texts = TEXT_COLUMNS.map((name) => before[name] ?? '');
        const { places, rules } = await ask({ kind: 'texts', texts });
        const fields = { ...before };
        for (const [index, name] of TEXT_COLUMNS.entries()) {
          const found = places[index] ?? [];
          if (found.length > 0) fields[name] = replaceEach(texts[index] ?? '', found);
        }
        return { fields, places: places.reduce((sum, { length }) => sum + length, 0), rules };
      },
      // Also for an asker who has left, because the thread keeps the masker otherwise.
      drop: async () => void (await ask({ kind: 'drop' }, { ...asker, signal: undefined }).catch(() => undefined)),
    };
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

type RequestOf = Request extends infer One ? (One extends Request ? Omit<One, 'masker'> : never) : never;

export interface Masker {
  add(appends: StoredAppend[]): Promise<Reply>;
  end(): Promise<Reply>;
  /** Masks the descriptive fields of a session. @returns the fields, the number of masked places, and what each rule found so far */
  maskFields(fields: SessionTexts): Promise<{ fields: SessionTexts; places: number } & Pick<Reply, 'rules'>>;
  drop(): Promise<void>;
}
