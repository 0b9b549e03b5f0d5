import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { shuffle } from '../server/test/seed.ts';
import { RECOVERED_WITHIN_MS } from './client.ts';
import { createHistory, type History, readHistory } from './history.ts';
import { EMPTY, judge, judgeEndings, type Stored, type Verdict } from './judge.ts';
import { createLoad, type Load, type LoadOptions } from './load.ts';

/** A fault and its repair. */
export interface Fault {
  break(): Promise<void> | void;
  mend(): Promise<void> | void;
  /** The fault takes effect only once appends are answered with 503. Until then, large appends are sent. */
  isShortage?: boolean;
}

/** The service with all its parts as processes. */
export interface Installation extends Omit<LoadOptions, 'random' | 'sessions'> {
  faults: Record<string, Fault>;
  stop(): Promise<void>;
}

export interface RoundsOptions {
  rounds: number;
  /** No round begins after this time of `performance.now`. */
  until?: number;
  random: () => number;
  /** Selects the faults with this text in their name. */
  only?: string;
  /** Folder for the histories. */
  folder: string;
  /** How many milliseconds a fault lasts at least. */
  hold?: number;
  tell?: (text: string) => void;
}

export interface Outcome extends Verdict {
  rounds: number;
  /** For each kind of fault: how often it occurred, and how many seconds its rounds took. */
  broken: Record<string, { times: number; seconds: number }>;
  /** How the service recovered from each kind of fault. */
  recovery?: Record<string, Recovery>;
}

/** Milliseconds in each round with this fault. */
export interface Recovery {
  /** From the repair until every replica accepted an append. */
  appends: number[];
  /** From the repair until every event acknowledged before could be read. */
  readable: number[];
  /** The slowest answer to a request that was sent during the fault. */
  longestAnswer: number[];
}

/** Plays rounds, and then stops the installation. An error of the rounds comes first, because it may be why the stop fails, too. */
export async function runAndStop(installation: Installation, options: RoundsOptions): Promise<Outcome> {
  const outcome = await runRounds(installation, options).catch(async (first: unknown) => {
    await installation.stop().catch((second: unknown) => {
      throw new AggregateError([first, second], 'The rounds failed, and then the installation could not be stopped.');
    });
    throw first;
  });
  await installation.stop();
  return outcome;
}

/** Rounds after which all sessions are compared with the history and replaced by new ones. */
const CHAPTER = 30;
const SESSIONS = 6;
/** A recovery this slow gets a line of its own in the output. */
const SLOW_MS = 5_000;
/** How many to wait for: appends before the fault, requests during it, and appends after its repair. */
const WAITED = { before: 8, during: 10, after: 26 };

/** The work of a chapter of rounds, and its verdict. */
export interface Chapters {
  begin?(chapter: number): Promise<void>;
  play(kind: string, fault: Fault, round: number): Promise<void>;
  finish(chapter: number): Promise<Verdict>;
}

/** Plays rounds with one fault each, every kind equally often. */
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
    tell(`${done} rounds; in the last ${events} events ${found.length} faults ${JSON.stringify(found.slice(0, 5))}`);
  }
  return { rounds: done, broken };
}

/**
 * Plays rounds under load and judges each chapter, then judges all chapters again at the end.
 * @throws if appends are still not accepted after a repair
 */
async function runRounds(installation: Installation, options: RoundsOptions): Promise<Outcome> {
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
        history,
        kind,
        fault,
        hold: options.hold ?? 0,
        recovery: recovery[kind],
      });
      if (Math.max(appends, readable) < SLOW_MS) return;
      const [taken, read] = [appends, readable].map((ms) => `${(ms / 1000).toFixed(1)} s`);
      options.tell?.(
        `after ‘${kind}’ appends were accepted within ${taken}, and all events were readable within ${read}`,
      );
    },
    async finish(chapter) {
      const one = { path: pathOf(chapter), sessions: await load.finish() };
      history.close();
      done.push(one);
      return judgeChapter(one);
    },
  });
  // Judge all chapters again: events that were right may have been lost later.
  let verdict = EMPTY;
  for (const one of done) verdict = add(verdict, await judgeChapter(one));
  return { ...judgeEndings(verdict, played.rounds), ...played, recovery };
}

interface Round {
  load: Load;
  history: History;
  kind: string;
  fault: Fault;
  hold: number;
  recovery: Recovery;
}

/** @returns how long it took until appends were accepted, and until all events were readable */
async function playRound({
  load,
  history,
  kind,
  fault,
  hold,
  recovery,
}: Round): Promise<[appends: number, readable: number]> {
  const { counts } = load;
  const reached = async (what: keyof Load['counts'], more: number) => {
    const end = performance.now() + RECOVERED_WITHIN_MS;
    for (const enough = counts[what] + more; counts[what] < enough; await pause(5)) {
      if (performance.now() > end) throw new Error(`the service does not recover after ‘${kind}’`);
    }
  };
  await reached('acknowledged', WAITED.before);
  const end = await load.prepareEnding();
  const recovered = Promise.withResolvers<void>();
  const ending = end(recovered.promise);
  history.write({ fault: kind });
  await fault.break();
  load.setHeavy(fault.isShortage === true);
  const longestAnswer = load.longestAnswer();
  const waited = reached(fault.isShortage ? 'unavailable' : 'requests', WAITED.during);
  await Promise.all([waited, load.peek(), pause(hold)]);
  load.setHeavy(false);
  await fault.mend();
  history.write({ mended: kind });
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
