import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { shuffle } from '../server/test/seed.ts';
import { RECOVERED_WITHIN_MS } from './client.ts';
import { createHistory, type History, readHistory } from './history.ts';
import { EMPTY, judge, judgeEndings, type Stored, type Verdict } from './judge.ts';
import { createLoad, type Load, type LoadOptions } from './load.ts';

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
  /** How many milliseconds something stays broken at least. */
  hold?: number;
  tell?: (text: string) => void;
}

export interface Outcome extends Verdict {
  rounds: number;
  /** How often each was broken, and how many seconds its rounds took. */
  broken: Record<string, { times: number; seconds: number }>;
  /** How it recovered from each. */
  recovery?: Record<string, Recovery>;
}

/** Milliseconds of each round in which something was broken. */
export interface Recovery {
  /** Once it was mended, until every replica took an append. */
  appends: number[];
  /** Once it was mended, until all that was acknowledged before could be read. */
  readable: number[];
  /** Of the requests that were sent while it was broken, the longest until its answer. */
  longestAnswer: number[];
}

/** Rounds after which all is read and held against the history, and other sessions are taken. */
const CHAPTER = 30;
const SESSIONS = 6;
/** A recovery that is told of by itself. */
const SLOW_MS = 5_000;
/** What is waited for: appends while all is well, tries while something is broken, and appends after it was mended. */
const WAITED = { before: 8, during: 10, after: 26 };

/** What is done in a chapter of rounds, and what comes out in its end. */
export interface Chapters {
  begin?(chapter: number): Promise<void>;
  play(kind: string, fault: Fault, round: number): Promise<void>;
  finish(chapter: number): Promise<Verdict>;
}

/** Breaks one thing after the other, each kind as often as the others. */
export async function breakInTurn(faults: Record<string, Fault>, options: RoundsOptions, chapters: Chapters) {
  const { rounds, until = Number.POSITIVE_INFINITY, random, only = '', tell = () => undefined } = options;
  const kinds = Object.keys(faults).filter((kind) => kind.includes(only));
  const broken: Outcome['broken'] = Object.fromEntries(kinds.map((kind) => [kind, { times: 0, seconds: 0 }]));
  const goesOn = () => done < rounds && performance.now() < until;
  let done = 0;
  let next: string[] = [];
  for (let chapter = 0; goesOn(); chapter++) {
    await chapters.begin?.(chapter);
    for (const end = done + CHAPTER; done < end && goesOn(); done++) {
      if (next.length === 0) next = shuffle(kinds, random);
      const kind = next.pop() as string;
      const began = performance.now();
      await chapters.play(kind, faults[kind] as Fault, done);
      const of = broken[kind] as Outcome['broken'][string];
      of.times++;
      of.seconds += (performance.now() - began) / 1000;
    }
    const { events, faults: found } = await chapters.finish(chapter);
    tell(`${done} rounds; of the last ${events} events ${found.length} faults ${JSON.stringify(found.slice(0, 5))}`);
  }
  return { rounds: done, broken };
}

/**
 * Breaks things under load, and judges; in the end once more all that was ever written.
 * @throws where nothing is taken any more after something was mended
 */
export async function runRounds(installation: Installation, options: RoundsOptions): Promise<Outcome> {
  const load = createLoad({ ...installation, random: options.random, sessions: SESSIONS });
  const done: { path: string; sessions: string[] }[] = [];
  let history: History;

  const pathOf = (chapter: number) => join(options.folder, `history-${chapter}.jsonl`);
  const judgeChapter = async ({ path, sessions }: (typeof done)[number]) => {
    const stored = new Map<string, Stored>();
    for (const session of sessions) stored.set(session, await load.read(session));
    return judge(readHistory(path), stored);
  };
  const recovery: Record<string, Recovery> = {};
  const played = await breakInTurn(installation.faults, options, {
    async begin(chapter) {
      history = createHistory(pathOf(chapter));
      await load.start(history);
    },
    async play(kind, fault) {
      recovery[kind] ??= { appends: [], readable: [], longestAnswer: [] };
      const [appends, readable] = await playRound({
        load,
        kind,
        fault,
        hold: options.hold ?? 0,
        recovery: recovery[kind],
      });
      if (Math.max(appends, readable) < SLOW_MS) return;
      const [taken, read] = [appends, readable].map((ms) => `${(ms / 1000).toFixed(1)} s`);
      options.tell?.(`after ‘${kind}’ appends were taken within ${taken}, and all was readable within ${read}`);
    },
    async finish(chapter) {
      const one = { path: pathOf(chapter), sessions: await load.finish() };
      history.close();
      done.push(one);
      return judgeChapter(one);
    },
  });
  // Again, all of it: what was right may have been lost later.
  let verdict = EMPTY;
  for (const one of done) verdict = add(verdict, await judgeChapter(one));
  return { ...judgeEndings(verdict, played.rounds), ...played, recovery };
}

interface Round {
  load: Load;
  kind: string;
  fault: Fault;
  hold: number;
  recovery: Recovery;
}

/** @returns how long it took until appends were taken, and until all was readable */
async function playRound({ load, kind, fault, hold, recovery }: Round): Promise<[appends: number, readable: number]> {
  const { counts } = load;
  const reached = async (what: keyof Load['counts'], more: number) => {
    const end = performance.now() + RECOVERED_WITHIN_MS;
    for (const enough = counts[what] + more; counts[what] < enough; await pause(5)) {
      if (performance.now() > end) throw new Error(`nothing goes on after ‘${kind}’`);
    }
  };
  await reached('acknowledged', WAITED.before);
  const end = await load.prepareEnding();
  const recovered = Promise.withResolvers<void>();
  const ending = end(recovered.promise);
  await fault.break();
  load.setHeavy(fault.isShortage === true);
  const longestAnswer = load.longestAnswer();
  const waited = reached(fault.isShortage ? 'unavailable' : 'requests', WAITED.during);
  await Promise.all([waited, load.peek(), pause(hold)]);
  load.setHeavy(false);
  await fault.mend();
  const [appends, readable] = await Promise.all([load.untilTaken(), load.untilReadable()]);
  recovered.resolve();
  recovery.appends.push(appends);
  recovery.readable.push(readable);
  recovery.longestAnswer.push(await longestAnswer);
  await ending;
  await reached('acknowledged', WAITED.after);
  await load.peek();
  return [appends, readable];
}

export const add = (one: Verdict, other: Verdict): Verdict => ({
  appends: one.appends + other.appends,
  events: one.events + other.events,
  requests: one.requests + other.requests,
  unanswered: one.unanswered + other.unanswered,
  unavailable: one.unavailable + other.unavailable,
  replays: one.replays + other.replays,
  deleted: one.deleted + other.deleted,
  expired: one.expired + other.expired,
  faults: [...one.faults, ...other.faults],
});
