import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { openReader } from '../pipeline.ts';
import type { Consent } from '../privacy/consent.ts';
import type { Place, Trouble } from '../read/discover.ts';
import { openSpool } from '../spool/open.ts';

/** The command, for this program alone: no help tells of it. */
export const CATCH_UP = 'catch-up';

/** The first line of standard input: the work, and its spool. Every further line lets it continue. */
export interface Task {
  spool: string;
  /** `agent` is an index into the program's agents, since several may share an id. */
  places: (Omit<Place, 'agent' | 'onFolder'> & { agent: number })[];
  consent: Consent | undefined;
  /** See `ReaderOptions`; milliseconds. */
  patienceMs: number;
}

/** A line of the standard output. */
export type Told =
  /** So many bytes of transcripts are in the spool. */
  | { readBytes: number }
  | { trouble: Trouble }
  /** Whether all of it was read. */
  | { isWhole: boolean };

/**
 * Reads all that is new into a spool for the process that started this one, which sends it: on a processor of its own, and
 * the memory it takes goes with it. While one commit is answered it reads on to the next. It ends when its input does.
 */
export async function catchUp(context: Context): Promise<void> {
  // It may grow to its initial size.
  setFlagsFromString('--semi-space-growth-factor=2');
  const lines = createInterface({ input: context.stdin })[Symbol.asyncIterator]();
  const task = JSON.parse(String((await lines.next()).value)) as Task;
  const tell = (told: Told) => void context.stdout.write(`${JSON.stringify(told)}\n`);
  const spool = openSpool(task.spool);
  let isLeft = false;
  const isStopped = () => isLeft || context.stop.aborted;

  async function goOn(): Promise<void> {
    isLeft = (await lines.next()).done === true;
  }

  try {
    const settings = readSettings(context);
    const reader = openReader(
      context,
      { folder: stateFolder(context), settings, spool },
      {
        ...{ consent: task.consent, patienceMs: task.patienceMs },
        onTrouble: (trouble) => tell({ trouble }),
      },
    );
    const places = task.places.flatMap((place) => {
      const agent = context.agents[place.agent];
      return agent ? [{ ...place, agent }] : [];
    });
    let answered = Promise.resolve();
    const isWhole = await reader.read(reader.findWork(places), {
      isStopped,
      async onCommit(readBytes) {
        await answered;
        tell({ readBytes });
        answered = goOn();
      },
    });
    await answered;
    tell({ isWhole: isWhole && !isStopped() });
  } finally {
    spool.close();
  }
}
