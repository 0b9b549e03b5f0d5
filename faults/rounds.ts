import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { shuffle } from '../server/test/seed.ts';
import { createHistory, readHistory } from './history.ts';
import { judge, type Stored, type Verdict } from './judge.ts';
import { createLoad, type Load, type LoadOptions, RECOVERED_WITHIN_MS } from './load.ts';

/** Something that breaks, and is well again. */
export interface Fault {
  break(): Promise<void> | void;
  mend(): Promise<void> | void;
  /** It is broken only once appends are answered 503; what is sent then takes much room. */
  isShortage?: boolean;
}

/** The service with all that belongs to it, as processes. */
export interface Installation extends Omit<LoadOptions, 'random' | 'sessions'> {
  faults: Record<string, Fault>;
  stop(): Promise<void>;
}

export interface RoundsOptions {
  rounds: number;
  /** No round begins after this, in milliseconds as of `performance.now`. */
  until?: number;
  random: () => number;
  /** Only faults whose name has this in it. */
  only?: string;
  /** For the histories. */
  folder: string;
  tell?: (text: string) => void;
}

export interface Outcome extends Verdict {
  rounds: number;
  /** How often each was broken, and how many seconds its rounds took. */
  broken: Record<string, { times: number; seconds: number }>;
}

/** Rounds after which all is read and held against the history, and other sessions are taken. */
const CHAPTER = 30;
const SESSIONS = 6;
/** What is waited for: appends while all is well, tries while something is broken, and appends after it was mended. */
const WAITED = { before: 8, during: 10, after: 26 };

export const EMPTY: Verdict = {
  ...{ appends: 0, events: 0, requests: 0, unanswered: 0, unavailable: 0, replays: 0 },
  faults: [],
};

/**
 * Breaks one thing after the other under load, each kind as often as the others, and judges; in the end once more all
 * that was ever written.
 * @throws where nothing is taken any more after something was mended
 */
export async function runRounds(installation: Installation, options: RoundsOptions): Promise<Outcome> {
  const { rounds, until = Number.POSITIVE_INFINITY, random, only = '', folder, tell = () => undefined } = options;
  const load = createLoad({ ...installation, random, sessions: SESSIONS });
  const kinds = Object.keys(installation.faults).filter((kind) => kind.includes(only));
  const broken: Outcome['broken'] = Object.fromEntries(kinds.map((kind) => [kind, { times: 0, seconds: 0 }]));
  const chapters: { path: string; sessions: string[] }[] = [];
  let done = 0;
  let next: string[] = [];

  const judgeChapter = async ({ path, sessions }: (typeof chapters)[number]) => {
    const stored = new Map<string, Stored>();
    for (const session of sessions) stored.set(session, await load.read(session));
    return judge(readHistory(path), stored);
  };

  while (done < rounds && performance.now() < until) {
    const path = join(folder, `history-${chapters.length}.jsonl`);
    const history = createHistory(path);
    await load.start(history);
    for (const end = Math.min(rounds, done + CHAPTER); done < end && performance.now() < until; done++) {
      if (next.length === 0) next = shuffle(kinds, random);
      const kind = next.pop() as string;
      const began = performance.now();
      await playRound(load, kind, installation.faults[kind] as Fault);
      const of = broken[kind] as Outcome['broken'][string];
      of.times++;
      of.seconds += (performance.now() - began) / 1000;
    }
    const chapter = { path, sessions: await load.finish() };
    history.close();
    chapters.push(chapter);
    const { events, faults } = await judgeChapter(chapter);
    tell(`${done} rounds; of the last ${events} events ${faults.length} faults ${JSON.stringify(faults.slice(0, 5))}`);
  }
  // Again, all of it: what was right may have been lost later.
  let verdict = EMPTY;
  for (const chapter of chapters) verdict = add(verdict, await judgeChapter(chapter));
  return { ...verdict, rounds: done, broken };
}

async function playRound(load: Load, kind: string, fault: Fault): Promise<void> {
  const { counts } = load;
  const reached = async (what: keyof Load['counts'], more: number) => {
    const end = performance.now() + RECOVERED_WITHIN_MS;
    for (const enough = counts[what] + more; counts[what] < enough; await pause(5)) {
      if (performance.now() > end) throw new Error(`nothing goes on after ‘${kind}’`);
    }
  };
  await reached('acknowledged', WAITED.before);
  await fault.break();
  load.setHeavy(fault.isShortage === true);
  await Promise.all([reached(fault.isShortage ? 'unavailable' : 'requests', WAITED.during), load.peek()]);
  load.setHeavy(false);
  await fault.mend();
  await reached('acknowledged', WAITED.after);
  await load.peek();
}

export const add = (one: Verdict, other: Verdict): Verdict => ({
  appends: one.appends + other.appends,
  events: one.events + other.events,
  requests: one.requests + other.requests,
  unanswered: one.unanswered + other.unanswered,
  unavailable: one.unavailable + other.unavailable,
  replays: one.replays + other.replays,
  faults: [...one.faults, ...other.faults],
});
