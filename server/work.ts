/**
 * The group and person for whom work is done. A queue is fair between groups, such as organizations, and then between the people of a group.
 */
export interface Asker {
  group?: string;
  person?: string;
  /** Removes waiting work from the queue; running work receives this signal. */
  signal?: AbortSignal | undefined;
}

export interface QueueOptions {
  /** The most work that runs at the same time. */
  atOnce: number;
  /** The most of it that one group may run; absent: all of it. */
  atOncePerGroup?: number;
  /** The most waiting work of one group; absent: any amount. */
  maxWaiting?: number;
  /** The deadline of the work in milliseconds; absent: none. */
  deadlineMs?: number;
  /** The error for work that finds the queue full. */
  full?: () => Error;
}

/** Work took longer than its deadline. Its signal was aborted, and nobody waits for it any more. */
export class DeadlineExceeded extends Error {
  override name = 'DeadlineExceeded';

  constructor(ms: number) {
    super(`it took longer than ${ms / 1000} s and was given up`);
  }
}

interface QueuedWork {
  begin: () => void;
  refuse: (error: Error) => void;
}

interface Person {
  running: number;
  waiting: QueuedWork[];
}

interface Group {
  running: number;
  waiting: number;
  /** The people with running or waiting work. The person whose work started or ended last is the last entry. */
  people: Map<string, Person>;
}

/**
 * Runs a limited amount of work at the same time; the rest waits. A free slot goes to the group with the least running work,
 * then to its person with the least. Among equals, it goes to the one that was served longest ago.
 */
export class Queue {
  readonly #options: QueueOptions;
  /** The groups with running or waiting work. The group whose work started or ended last is the last entry. */
  readonly #groups = new Map<string, Group>();
  #running = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** The amount of waiting work, of one group or of all groups. */
  waiting(group?: string): number {
    if (group !== undefined) return this.#groups.get(group)?.waiting ?? 0;
    return this.#groups.values().reduce((sum, one) => sum + one.waiting, 0);
  }

  /**
   * Runs the work in the next free slot. Aborted work keeps its slot until it has stopped or its deadline has passed.
   * @returns the result of the work
   * @throws the error of the work; the reason of the caller's signal if it is aborted before the work started;
   * DeadlineExceeded; the error of `full`
   */
  async run<Result>(work: (signal: AbortSignal) => Promise<Result>, asker: Asker = {}): Promise<Result> {
    const { group = '', person = '', signal } = asker;
    signal?.throwIfAborted();
    await this.#enter(group, person, signal);
    try {
      signal?.throwIfAborted();
      return await withDeadline(work, this.#options.deadlineMs, signal);
    } finally {
      this.#leave(group, person);
    }
  }

  #enter(groupName: string, personName: string, signal: AbortSignal | undefined): Promise<void> {
    const group = getOrAdd(this.#groups, groupName, () => ({ running: 0, waiting: 0, people: new Map() }));
    const person = getOrAdd(group.people, personName, () => ({ running: 0, waiting: [] }));
    return new Promise((resolve, reject) => {
      const stop = () => signal?.removeEventListener('abort', leave);
      const waiting: QueuedWork = {
        begin() {
          stop();
          resolve();
        },
        refuse(error) {
          stop();
          reject(error);
        },
      };
      const leave = () => {
        person.waiting.splice(person.waiting.indexOf(waiting), 1);
        group.waiting--;
        this.#forget(groupName, personName);
        reject(signal?.reason);
      };
      person.waiting.push(waiting);
      group.waiting++;
      signal?.addEventListener('abort', leave, { once: true });
      this.#fill();
      if (group.waiting > (this.#options.maxWaiting ?? Number.POSITIVE_INFINITY)) this.#refuseOne(groupName, group);
    });
  }

  /** Refuses the newest work of the person with the most waiting work, so that no person can fill the queue for others. */
  #refuseOne(groupName: string, group: Group): void {
    let [name, busiest] = ['', undefined as Person | undefined];
    // Among equals, the person who joined last.
    for (const [one, person] of group.people)
      if (person.waiting.length >= (busiest?.waiting.length ?? 1)) [name, busiest] = [one, person];
    const refused = busiest?.waiting.pop();
    group.waiting--;
    this.#forget(groupName, name);
    refused?.refuse(this.#options.full?.() ?? new Error('the queue is full'));
  }

  #leave(groupName: string, personName: string): void {
    const group = this.#groups.get(groupName) as Group;
    const person = group.people.get(personName) as Person;
    this.#running--;
    group.running--;
    person.running--;
    moveLast(this.#groups, groupName, group);
    moveLast(group.people, personName, person);
    this.#forget(groupName, personName);
    this.#fill();
  }

  /** Starts waiting work while there are free slots. */
  #fill(): void {
    const { atOnce, atOncePerGroup = atOnce } = this.#options;
    while (this.#running < atOnce) {
      const next = leastBusy(this.#groups, (group) => group.waiting > 0 && group.running < atOncePerGroup);
      const chosen = next && leastBusy(next[1].people, ({ waiting }) => waiting.length > 0);
      const begun = chosen?.[1].waiting.shift();
      if (!next || !chosen || !begun) return;
      const [[groupName, group], [personName, person]] = [next, chosen];
      this.#running++;
      group.running++;
      group.waiting--;
      person.running++;
      moveLast(this.#groups, groupName, group);
      moveLast(group.people, personName, person);
      begun.begin();
    }
  }

  #forget(groupName: string, personName: string): void {
    const group = this.#groups.get(groupName);
    const person = group?.people.get(personName);
    if (person?.running === 0 && person.waiting.length === 0) group?.people.delete(personName);
    if (group?.people.size === 0) this.#groups.delete(groupName);
  }
}

function getOrAdd<Value>(all: Map<string, Value>, name: string, make: () => Value): Value {
  const known = all.get(name);
  if (known !== undefined) return known;
  const made = make();
  all.set(name, made);
  return made;
}

/** The first of the entries with the least running work. */
function leastBusy<One extends { running: number }>(
  all: Map<string, One>,
  isWanted: (one: One) => boolean,
): [string, One] | undefined {
  let best: [string, One] | undefined;
  for (const entry of all) {
    if (!isWanted(entry[1]) || (best && best[1].running <= entry[1].running)) continue;
    best = entry;
    if (best[1].running === 0) break;
  }
  return best;
}

function moveLast<One>(all: Map<string, One>, name: string, one: One): void {
  all.delete(name);
  all.set(name, one);
}

/**
 * Waits for the work until the deadline. The signal that the work receives is aborted at the deadline, or together with the
 * asker's signal.
 * @throws the error that `late` makes when the deadline has passed, or the error of the work
 */
export async function withDeadline<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  ms: number | undefined,
  asked?: AbortSignal,
  late: (ms: number) => Error = (given) => new DeadlineExceeded(given),
): Promise<Result> {
  const stopping = new AbortController();
  const stop = () => stopping.abort(asked?.reason);
  asked?.addEventListener('abort', stop, { once: true });
  if (asked?.aborted) stop();
  let timer: NodeJS.Timeout | undefined;
  try {
    const running = work(stopping.signal);
    if (ms === undefined) return await running;
    const over = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = late(ms);
        stopping.abort(error);
        reject(error);
      }, ms).unref();
    });
    return await Promise.race([running, over]);
  } finally {
    clearTimeout(timer);
    asked?.removeEventListener('abort', stop);
  }
}

/** Shares running work: all callers with the same key get the one result while it runs. */
export class Once<Result> {
  readonly #running = new Map<string, Promise<Result>>();

  run(key: string, work: () => Promise<Result>): Promise<Result> {
    const known = this.#running.get(key);
    if (known) return known;
    const running = work().finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }

  isRunning(key: string): boolean {
    return this.#running.has(key);
  }
}

const slices: (() => void)[] = [];

/**
 * Runs a slice of long synchronous work. Each round of the event loop runs one slice, so that everything else that is ready is
 * served between two slices. A slice takes at most 30 ms; cut longer work.
 * @returns the result of the slice; rejects with its error
 */
export function yieldSlice<Result>(work: () => Result): Promise<Result> {
  return new Promise((resolve, reject) => {
    slices.push(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
    if (slices.length === 1) setImmediate(runSlice);
  });
}

/** An immediate that is set while immediates run waits until sockets and timers have been served. */
function runSlice(): void {
  slices[0]?.();
  slices.shift();
  if (slices.length > 0) setImmediate(runSlice);
}

/** Work on more bytes than this is a slice of its own: a megabyte is scanned in 1 to 10 ms. */
export const SLICE_BYTES = 1024 * 1024;

/** Runs the work at once, or as a slice if it covers many bytes. */
export const sliceOf = <Result>(bytes: number, work: () => Result): Result | Promise<Result> =>
  bytes > SLICE_BYTES ? yieldSlice(work) : work();

/** Work that yields now and then. It yields its cost since the last time, as the number of bytes that would take as long. */
export type Steps<Result> = Generator<number, Result, void>;

/** The cost of the steps in one slice. Half a megabyte takes 15 ms if each event is parsed. */
const BYTES_IN_A_SLICE = 512 * 1024;

/**
 * Does the work in slices.
 * @throws the signal's reason if it is aborted before a slice
 */
export async function inSlices<Result>(work: Steps<Result>, signal?: AbortSignal): Promise<Result> {
  for (;;) {
    signal?.throwIfAborted();
    const step = await yieldSlice(() => {
      let next = work.next();
      for (let left = BYTES_IN_A_SLICE; !next.done; next = work.next()) {
        left -= next.value;
        if (left <= 0) break;
      }
      return next;
    });
    if (step.done) return step.value;
  }
}
