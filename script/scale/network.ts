/** A piece of a request's way: work of a process, or time that passes by itself, in milliseconds. */
export type Step = { at: string; work: number } | { wait: number };

export interface Network {
  /** Processes work one thing at a time each, first come first served, and share this many processors evenly. */
  processors: number;
  /** What is asked: by clients that each wait for their answer, or at moments that nobody plans, so many a second. */
  asked: { clients: number } | { perSecond: number };
  /** The way of a request up to its answer, and what is still done for it then. Clients are numbered from 0. */
  way: (client: number) => { answered: readonly Step[]; afterwards?: readonly Step[] };
  /** Simulated seconds; what is asked in the first tenth is not counted. */
  seconds: number;
  /** From 0 up to 1. */
  random: () => number;
}

export interface Forecast {
  /** Answers a second. */
  perSecond: number;
  /** Milliseconds from being asked to the answer, and to the end of what is done afterwards. */
  answered: readonly number[];
  done: readonly number[];
}

interface Request {
  client: number;
  askedAt: number;
  steps: readonly Step[];
  /** Steps behind which it is answered. */
  answeredBehind: number;
  next: number;
}

interface Process {
  queue: Request[];
  /** Milliseconds of a processor that the first one still needs. */
  left: number;
}

/** So many things are simulated at most. */
const MOST_STEPS = 50_000_000;

/**
 * Plays requests through processes. Work takes exponentially distributed times around what is given, which is more uneven
 * than programs are: delays come out rather too long.
 */
export function simulate({ processors, asked, way, seconds, random }: Network): Forecast {
  const end = seconds * 1000;
  const warm = end / 10;
  const processes = new Map<string, Process>();
  /** What waits for a moment to come. */
  const timers: { at: number; then: () => void }[] = [];
  const answered: number[] = [];
  const done: number[] = [];
  let now = 0;

  const spread = (mean: number) => -Math.log(1 - random()) * mean;

  function later(ms: number, then: () => void): void {
    const at = now + ms;
    let place = timers.length;
    while (place > 0 && (timers[place - 1] as { at: number }).at < at) place--;
    timers.splice(place, 0, { at, then });
  }

  function ask(client: number): void {
    const { answered: first, afterwards = [] } = way(client);
    const steps = [...first, ...afterwards];
    go({ client, askedAt: now, steps, answeredBehind: first.length, next: 0 });
  }

  function go(request: Request): void {
    const { askedAt, steps, answeredBehind, client } = request;
    if (request.next === answeredBehind) {
      if (askedAt >= warm) answered.push(now - askedAt);
      if ('clients' in asked) later(0, () => ask(client));
    }
    const step = steps[request.next++];
    if (!step) {
      if (askedAt >= warm) done.push(now - askedAt);
    } else if ('wait' in step) later(spread(step.wait), () => go(request));
    else enter(step.at, step.work, request);
  }

  function enter(at: string, work: number, request: Request): void {
    const process = processes.get(at) ?? { queue: [], left: 0 };
    processes.set(at, process);
    if (process.queue.push(request) === 1) process.left = spread(work);
  }

  /** The first one's work is done: the next one's begins. */
  function finish(process: Process): void {
    const request = process.queue.shift() as Request;
    const following = process.queue[0];
    if (following) process.left = spread((following.steps[following.next - 1] as { work: number }).work);
    go(request);
  }

  if ('clients' in asked) for (let client = 0; client < asked.clients; client++) ask(client);
  else {
    const arrive = (client: number) => {
      ask(client);
      later(spread(1000 / asked.perSecond), () => arrive(client + 1));
    };
    arrive(0);
  }
  for (let step = 0; now < end; step++) {
    if (step > MOST_STEPS) throw new Error('too much is asked to be simulated: take fewer seconds');
    const busy = [...processes.values()].filter(({ queue }) => queue.length > 0);
    const speed = Math.min(1, processors / busy.length);
    const first = busy.reduce<Process | undefined>(
      (one, other) => (one && one.left <= other.left ? one : other),
      undefined,
    );
    const timer = timers.at(-1);
    const workEnds = first ? now + first.left / speed : Number.POSITIVE_INFINITY;
    const to = Math.min(workEnds, timer?.at ?? Number.POSITIVE_INFINITY);
    if (to === Number.POSITIVE_INFINITY) break;
    for (const process of busy) process.left -= (to - now) * speed;
    now = to;
    if (first && workEnds === to) finish(first);
    else (timers.pop() as { then: () => void }).then();
  }
  return { perSecond: answered.length / ((end - warm) / 1000), answered, done };
}
