import { Problem } from '../../contract/problem.ts';
import { withDeadline } from '../work.ts';
import { type Decision, decideAll, type Head, type KnownAppend, type SessionKey } from './decide.ts';
import type { Change, Journal, Proposal } from './journal.ts';

/** What is known of a session at some time. */
export interface Known {
  /** Undefined: there is no such session. */
  head: Head | undefined;
  keys: Map<string, KnownAppend>;
}

/** A journal that adds only behind the head that it is shown: by comparing, and not by locking. */
export interface ComparingJournal<Seen extends Known> {
  /** Changes of one session that one commit takes. */
  readonly together: number;
  /**
   * The session as it is now.
   * @param keys of the appends that are to be decided
   */
  read(place: SessionKey, keys: readonly string[]): Promise<Seen>;
  /** The same for a session that was seen before; `isConflict`: something was refused that should follow on what was seen. */
  update(place: SessionKey, keys: readonly string[], seen: Seen, isConflict: boolean): Promise<Seen>;
  /** Finds the keys that `seen` may not know; absent if `commit` finds them. */
  findKeys?(place: SessionKey, seen: Seen, keys: readonly string[]): Promise<void>;
  /**
   * Adds all of it behind the session as it was seen, or nothing, and notes it in `seen`.
   * @returns false where the session has changed meanwhile, or a key is taken
   */
  commit(place: SessionKey, seen: Seen, proposals: readonly Proposal[], after: Known): Promise<boolean>;
}

export interface HeadsOptions {
  /** Sessions that are remembered. */
  mostSessions: number;
  /** Keys that are remembered, over all sessions, about 300 bytes each; 0: none, as `commit` finds them. */
  mostKeys: number;
}

interface Waiting extends Change {
  resolve: (decision: Decision) => void;
  reject: (error: unknown) => void;
  /** Not begun after this, as of `performance.now`. */
  until: number;
}

/** Times that another replica may be faster. */
const MOST_ATTEMPTS = 20;
/** The longest for a change and the ones before it. Afterwards its caller must try again. */
const LONGEST_CHANGE_MS = 8_000;
/** Bodies that are committed together. */
const LARGEST_BATCH_BYTES = 1024 * 1024;
/** Changes of one session that wait. */
const MOST_WAITING = 4_096;

/**
 * The heads of sessions, as far as this replica knows them, and the one way to add behind them. A session is in one of
 * these states:
 *
 * | state | what is held | goes to |
 * | --- | --- | --- |
 * | unknown | nothing | reading, when a change comes |
 * | reading | its queue | deciding, once the journal has answered; unknown, where it fails |
 * | deciding, committing | its queue | known, once committed; reading, where another replica was faster; unknown, where it fails |
 * | known | its head | deciding, when a change comes; unknown, when it is the least lately used, or `forget` is called |
 *
 * Changes of one session follow each other; those that wait together are decided and committed together.
 */
export class Heads<Seen extends Known> implements Journal {
  readonly #journal: ComparingJournal<Seen>;
  readonly #options: HeadsOptions;
  /** The least lately used one first. */
  readonly #known = new Map<string, Seen>();
  /** Changes that wait, of the sessions that are being changed. */
  readonly #queues = new Map<string, Waiting[]>();
  #keys = 0;
  /** Raised by `forget`: what was read before is not remembered after it. */
  #era = 0;

  constructor(journal: ComparingJournal<Seen>, options: HeadsOptions) {
    this.#journal = journal;
    this.#options = options;
  }

  change(change: Change): Promise<Decision> {
    const { organizationId, sessionId } = change.place;
    const id = `${organizationId}.${sessionId}`;
    const decided = new Promise<Decision>((resolve, reject) => {
      const waiting = { ...change, resolve, reject, until: performance.now() + LONGEST_CHANGE_MS };
      const queue = this.#queues.get(id);
      if (!queue) {
        this.#queues.set(id, [waiting]);
        void this.#run(id, change.place);
      } else if (queue.length < MOST_WAITING) queue.push(waiting);
      else reject(unavailable('Too many changes of this session wait. Try again.'));
    });
    return withDeadline(() => decided, LONGEST_CHANGE_MS, undefined, tooSlow);
  }

  /** Remembers a session that was just opened. */
  begin({ organizationId, sessionId }: SessionKey, seen: Seen): void {
    this.#keep(`${organizationId}.${sessionId}`, seen);
  }

  /** The session as it is, or was a moment ago. */
  async look(place: SessionKey): Promise<Head | undefined> {
    const known = this.#known.get(`${place.organizationId}.${place.sessionId}`);
    return (known ?? (await this.#journal.read(place, []))).head;
  }

  /** Reads every session anew from now on: the journal may have lost what it had. */
  forget(): void {
    this.#known.clear();
    this.#keys = 0;
    this.#era++;
  }

  async #run(id: string, place: SessionKey): Promise<void> {
    const queue = this.#queues.get(id) ?? [];
    while (queue.length > 0) {
      const group = queue.splice(0, this.#countNext(queue)).filter((one) => {
        if (one.until > performance.now()) return true;
        one.reject(tooSlow());
        return false;
      });
      if (group.length === 0) continue;
      try {
        const decisions = await this.#take(id, place, group);
        for (const [at, { resolve }] of group.entries()) resolve(decisions[at] as Decision);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#queues.delete(id);
  }

  /** How many commands of the queue are decided together. A deletion is decided alone. */
  #countNext(queue: readonly Waiting[]): number {
    let bytes = 0;
    for (const [at, { command, frame }] of queue.entries()) {
      const isDeletion = command.kind === 'delete' || command.kind === 'expire';
      bytes += frame?.body.byteLength ?? 0;
      if (at > 0 && (isDeletion || bytes > LARGEST_BATCH_BYTES)) return at;
      if (isDeletion || at + 1 === this.#journal.together) return at + 1;
    }
    return queue.length;
  }

  /** Decides the group and commits it; decides again if another replica was faster. */
  async #take(id: string, place: SessionKey, group: readonly Waiting[]): Promise<Decision[]> {
    const era = this.#era;
    const commands = group.map(({ command }) => command);
    const keys = commands.flatMap((command) =>
      command.kind === 'append' && command.key !== null ? [command.key] : [],
    );
    const until = Math.max(...group.map((one) => one.until));
    let seen = this.#known.get(id);
    // After a failure the state of the journal is unknown, so the next group reads it.
    this.#drop(id);
    let isFresh = seen === undefined;
    let isConflict = false;
    for (let attempt = 0; attempt < MOST_ATTEMPTS && performance.now() < until; attempt++) {
      if (!seen) seen = await this.#journal.read(place, keys);
      else if (attempt > 0) {
        seen = await this.#journal.update(place, keys, seen, isConflict);
        isFresh = true;
      }
      await this.#journal.findKeys?.(place, seen, keys);
      const { decisions, head, added } = decideAll(seen, commands);
      // The remembered head may be old: another replica may have added the expected events, or the same append.
      if (!isFresh && decisions.some(mayBeStale)) continue;
      const proposals = decisions.flatMap((decision, at): Proposal[] => {
        const { command, frame } = group[at] as Waiting;
        return 'entry' in decision ? [{ entry: decision.entry, command, frame }] : [];
      });
      isConflict = proposals.length > 0 && !(await this.#journal.commit(place, seen, proposals, { head, keys: added }));
      if (isConflict) continue;
      if (era === this.#era) this.#keep(id, seen);
      return decisions;
    }
    throw unavailable('Too many write to this session at once. Try again.');
  }

  #keep(id: string, seen: Seen): void {
    this.#drop(id);
    // Ids come from callers, so nothing is remembered of a session that is not there.
    if (!seen.head) return;
    // A replay has read keys. Over a limit of none, they would drop every other session.
    if (this.#options.mostKeys === 0) seen.keys.clear();
    this.#known.set(id, seen);
    this.#keys += seen.keys.size;
    for (const oldest of this.#known.keys()) {
      const isFull = this.#known.size > this.#options.mostSessions || this.#keys > this.#options.mostKeys;
      if (oldest === id || !isFull) break;
      this.#drop(oldest);
    }
  }

  #drop(id: string): void {
    this.#keys -= this.#known.get(id)?.keys.size ?? 0;
    this.#known.delete(id);
  }
}

/** Whatever else is refused stays so: a deleted session does not come back, and a key is not forgotten. */
const mayBeStale = (decision: Decision) =>
  'unchanged' in decision || ('refused' in decision && STALE.has(decision.refused));

const STALE: ReadonlySet<string> = new Set(['sequence_mismatch', 'session_closed']);

const unavailable = (sentence: string) => new Problem('service_unavailable', sentence, { retryAfter: 1 });

/** The change may be made all the same: its caller sends it again under its key. */
const tooSlow = () => unavailable('The session could not be changed in time. Try again with the same idempotency key.');
