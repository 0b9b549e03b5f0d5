/** A step of a request: work of a process, or waiting time, in milliseconds. */
export type Step = { at: string; work: number } | { wait: number };

export interface Network {
  /** Each process handles one request at a time, in order of arrival. All processes share this many processors evenly. */
  processors: number;
  /** The load: clients that each wait for their answer, or random arrivals with this rate. */
  asked: { clients: number } | { perSecond: number };
  /** The steps of a request up to its answer, and the steps afterwards. Clients are numbered from 0. */
  way: (client: number) => { answered: readonly Step[]; afterwards?: readonly Step[] };
  /** Simulated seconds; requests of the first tenth do not count. */
  seconds: number;
  /** A random number from 0 up to 1. */
  random: () => number;
}

export interface Forecast {
  /** Answers a second. */
  perSecond: number;
  /** Milliseconds from a request to its answer, and to the end of the steps afterwards. */
  answered: readonly number[];
  done: readonly number[];
}

interface Request {
  client: number;
  askedAt: number;
  steps: readonly Step[];
  /** The number of steps before the answer. */
  answeredBehind: number;
  next: number;
}

interface Process {
  queue: Request[];
  /** Milliseconds of processor time that the first request still needs. */
  left: number;
}

/** The maximum number of simulated steps. */
const MOST_STEPS = 50_000_000;

/**
 * Simulates requests through processes. The times of work are exponentially distributed around the given mean. Real programs vary
 * less, so the simulated delays are rather too long.
 */
export function simulate({ processors, asked, way, seconds, random }: Network): Forecast {
  const end = seconds * 1000;
  const warm = end / 10;
  const processes = new Map<string, Process>();
  /** Pending timers, latest first. */
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

  /** Ends the work for the first request of the queue and begins the next one. */
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
    if (step > MOST_STEPS) throw new Error('the simulation has too many steps: use fewer seconds');
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
