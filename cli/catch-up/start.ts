import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Context } from '../context.ts';
import type { ReaderChoices } from '../pipeline.ts';
import type { Place } from '../read/discover.ts';
import type { Progress } from '../read/reader.ts';
import { CATCH_UP, type Task, type Told } from './run.ts';

export interface CatchUpOptions extends Progress, ReaderChoices {
  /** The path of the spool. */
  spool: string;
  places: readonly Place[];
}

/**
 * With more to read than this a process of its own reads it: starting that takes 0.1 s of a processor, as from a bundle,
 * and 0.7 s from source.
 */
export const CATCH_UP_BYTES = 8 * 1024 * 1024;

/**
 * Megabytes. Of one, as this program has it otherwise, the engine collects 1,300 times for 68 MB of transcripts, and of four
 * 315 times, with a peak 5 MB higher; of eight 160 times, with one 20 MB higher.
 */
const YOUNG_GENERATION = '--max-semi-space-size=4';

/** Most characters of its error output that are kept. */
const MOST_SAID = 2000;

/** Has another process read all that is new at the places. False where some of it is left. Throws where it fails. */
export async function startCatchUp(context: Context, options: CatchUpOptions): Promise<boolean> {
  const { spool, consent, patienceMs, onTrouble, onCommit, isStopped } = options;
  const places = options.places.map((place) => ({ ...place, agent: context.agents.indexOf(place.agent) }));
  const [program = '', ...words] = context.program;
  const child = context.spawn(program, [...words, CATCH_UP], {
    env: { ...context.variables, NODE_OPTIONS: `${context.variables.NODE_OPTIONS ?? ''} ${YOUNG_GENERATION}` },
    stdio: 'pipe',
    windowsHide: true,
  });
  // It has ended meanwhile, as its exit code tells.
  child.stdin.on('error', () => {});
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  ended.catch(() => {});
  let isWhole = false;
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(0, MOST_SAID);
  });

  async function receive(told: Told): Promise<void> {
    if ('trouble' in told) return onTrouble(told.trouble);
    if ('isWhole' in told) {
      isWhole = told.isWhole;
      return;
    }
    await onCommit(told.readBytes);
    if (isStopped()) child.stdin.end();
    else if (child.stdin.writable) child.stdin.write('\n');
  }

  try {
    child.stdin.write(`${JSON.stringify({ spool, places, consent, patienceMs } satisfies Task)}\n`);
    for await (const line of createInterface({ input: child.stdout })) await receive(JSON.parse(line) as Told);
  } finally {
    child.stdin.end();
    // It has the spool open until then.
    await ended.catch(() => {});
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(said.trim() || `reading ended with ${code ?? 'a signal'}`);
  return isWhole;
}
