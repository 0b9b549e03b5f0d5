import type { Context } from '../context.ts';
import { openReader, type Pipeline } from '../pipeline.ts';
import type { Place, Trouble } from '../read/discover.ts';
import { giveWay } from '../read/give-way.ts';
import type { Work } from '../read/reader.ts';
import type { Hints } from './hints.ts';
import type { Log } from './log.ts';
import type { Looks } from './looks.ts';
import type { Notes } from './notes.ts';
import type { Timing } from './timing.ts';

export interface ReadingOptions {
  looks: Looks;
  hints: Hints;
  notes: Notes;
  log: Log;
  timing: Timing;
  tick: () => number;
  /** Whether to stop in the middle: asked to end, paused, or without room. */
  isStopped: () => boolean;
  /** Whether what is spooled is on its way: only then does reading wait for it. */
  isFlowing: () => boolean;
  onCommit: () => void;
}

const PATIENCE_MS = 60_000;

/** Reads what has changed: first what was hinted at, then what was due to be looked at. */
export function createReading(context: Context, pipeline: Pipeline, options: ReadingOptions) {
  const { looks, hints, notes, log, timing, tick, isStopped, isFlowing, onCommit } = options;
  const reader = openReader(context, pipeline, {
    patienceMs: PATIENCE_MS,
    onTrouble: ({ path, reason }: Trouble) => log.warn(`${path} cannot be read: ${reason}`),
  });

  async function readWork(work: Work, mustStop: () => boolean): Promise<void> {
    for (const { found, stored } of work.sessions.flat()) looks.keepActive(found, stored?.file ?? found.path);
    const isWhole = await reader.read(work, {
      isStopped: mustStop,
      async onCommit() {
        onCommit();
        await giveWay(pipeline.spool, { isStopped: mustStop, isFlowing });
      },
    });
    // Otherwise another process has read some of it meanwhile, or it was left for later.
    if (!isWhole || mustStop()) looks.expire();
  }

  /** What there is to read, the folders met on the way, and what looking took. */
  function find(places: readonly Place[]) {
    const started = tick();
    const folders: Place[] = [];
    const onFolder = ({ agent, root, below }: Place) => folders.push({ agent, root, below });
    const work = reader.findWork(places.map((place) => ({ ...place, onFolder })));
    return { work, folders, costMs: tick() - started };
  }

  async function readPlaces(places: readonly Place[]): Promise<void> {
    if (places.length === 0) return;
    const { work, folders } = find(places);
    looks.met(folders);
    await readWork(work, isStopped);
  }

  async function readEverything(places: readonly Place[]): Promise<void> {
    const { work, folders, costMs } = find(places);
    looks.lookedAt(places, folders, costMs);
    const readSince = tick();
    const hasNews = () => hints.isPending() || notes.isPending();
    await readWork(work, () => isStopped() || (hasNews() && tick() - readSince > timing.catchUpMs));
  }

  return {
    async readRound(): Promise<void> {
      for (const agent of notes.take()) looks.expireAgent(agent);
      await readPlaces([...looks.expand(hints.take()), ...looks.takeDue()]);
      const everything = isStopped() ? [] : looks.placesDue();
      if (everything.length > 0) await readEverything(everything);
    },
  };
}
