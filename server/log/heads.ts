import { Problem } from '../../contract/problem.ts';
import { withDeadline } from '../work.ts';
import { type Decision, decideAll, type Head, type KnownAppend, type SessionKey } from './decide.ts';
import type { ChangeRequest, Journal, Proposal } from './journal.ts';

/** The state of a session at some point in time. */
export interface CachedHead {
  /** Undefined: there is no such session. */
  head: Head | undefined;
  keys: Map<string, KnownAppend>;
}

/** A journal that adds an entry only if the session's head is still the given one. It compares instead of locking. */
export interface ComparingJournal<Seen extends CachedHead> {
  /** How many changes of one session fit into one commit. */
  readonly together: number;
  /**
   * Reads the current state of the session.
   * @param keys the keys of the appends that are to be decided
   */
  read(place: SessionKey, keys: readonly string[]): Promise<Seen>;
  /** Refreshes the state of a session that was read before. `isConflict`: a commit on top of `seen` was refused. */
  update(place: SessionKey, keys: readonly string[], seen: Seen, isConflict: boolean): Promise<Seen>;
  /** Adds the keys that `seen` may lack; absent if `commit` detects them. */
  findKeys?(place: SessionKey, seen: Seen, keys: readonly string[]): Promise<void>;
  /**
   * Adds all proposals on top of the state in `seen`, or none, and updates `seen`.
   * @returns false if the session has changed meanwhile or a key is taken
   */
  commit(place: SessionKey, seen: Seen, proposals: readonly Proposal[], after: CachedHead): Promise<boolean>;
}

export interface HeadsOptions {
  /** How many sessions are cached. */
  maxSessions: number;
  /** How many keys are cached over all sessions, at about 300 bytes each; 0: none, because `commit` detects them. */
  maxKeys: number;
  /** Milliseconds that a change may take, including the changes before it. Afterwards its caller must try again. */
  changeMs?: number | undefined;
}

interface QueuedChange extends ChangeRequest {
  resolve: (decision: Decision) => void;
  reject: (error: unknown) => void;
  /** The change is not started after this time of `performance.now`. */
  until: number;
}

/** How often another replica may be faster before the change fails. */
const MAX_ATTEMPTS = 20;
const MAX_CHANGE_MS = 8_000;
/** How many bytes of bodies are committed together. */
const MAX_BATCH_BYTES = 1024 * 1024;
/** How many changes of one session may wait. */
const MAX_WAITING = 4_096;

/**
 * Caches the heads of sessions on this replica, and is the only way to add entries to them. A session is in one of these
 * states:
 *
 * | state | kept in memory | next state |
 * | --- | --- | --- |
 * | unknown | nothing | reading, when a change arrives |
 * | reading | its queue | deciding, once the journal has answered; unknown, if the journal fails |
 * | deciding, committing | its queue | known, once committed; reading, if another replica was faster; unknown, if it fails |
 * | known | its head | deciding, when a change arrives; unknown, when it is the least recently used, or `forget` is called |
 *
 * Changes of one session run one after the other. Changes that wait at the same time are decided and committed together.
 */
export class Heads<Seen extends CachedHead> implements Journal {
  readonly #journal: ComparingJournal<Seen>;
  readonly #options: HeadsOptions;
  /** Ordered from the least to the most recently used. */
  readonly #known = new Map<string, Seen>();
  /** The waiting changes of each session that is being changed. */
  readonly #queues = new Map<string, QueuedChange[]>();
  #keys = 0;
  /** `forget` increments it, so that a state that was read before is not cached afterwards. */
  #era = 0;

  constructor(journal: ComparingJournal<Seen>, options: HeadsOptions) {
    this.#journal = journal;
    this.#options = options;
  }

  change(change: ChangeRequest): Promise<Decision> {
    const { organizationId, sessionId } = change.place;
    const id = `${organizationId}.${sessionId}`;
    const { changeMs = MAX_CHANGE_MS } = this.#options;
    const decided = new Promise<Decision>((resolve, reject) => {
      const waiting = { ...change, resolve, reject, until: performance.now() + changeMs };
      const queue = this.#queues.get(id);
      if (!queue) {
        this.#queues.set(id, [waiting]);
        void this.#run(id, change.place);
      } else if (queue.length < MAX_WAITING) queue.push(waiting);
      else reject(unavailable('Too many changes of this session wait. Try again.'));
    });
    return withDeadline(() => decided, changeMs, undefined, tooSlow);
  }

  /** Caches a session that was just opened. */
  begin({ organizationId, sessionId }: SessionKey, seen: Seen): void {
    this.#keep(`${organizationId}.${sessionId}`, seen);
  }

  /** The current state of the session, or its state a moment ago. */
  async look(place: SessionKey): Promise<Head | undefined> {
    const known = this.#known.get(`${place.organizationId}.${place.sessionId}`);
    return (known ?? (await this.#journal.read(place, []))).head;
  }

  /** Empties the cache, so that every session is read again. Needed when the journal may have lost entries. */
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

  /** How many commands at the front of the queue are decided together. A deletion is decided alone. */
  #countNext(queue: readonly QueuedChange[]): number {
    let bytes = 0;
    for (const [at, { command, frame }] of queue.entries()) {
      const isDeletion = command.kind === 'delete' || command.kind === 'expire';
      bytes += frame?.body.byteLength ?? 0;
      if (at > 0 && (isDeletion || bytes > MAX_BATCH_BYTES)) return at;
      if (isDeletion || at + 1 === this.#journal.together) return at + 1;
    }
    return queue.length;
  }

  /** Decides the group and commits it. Decides again if another replica was faster. */
  async #take(id: string, place: SessionKey, group: readonly QueuedChange[]): Promise<Decision[]> {
    const era = this.#era;
    const commands = group.map(({ command }) => command);
    const keys = commands.flatMap((command) =>
      command.kind === 'append' && command.key !== null ? [command.key] : [],
    );
    const until = Math.max(...group.map((one) => one.until));
    let seen = this.#known.get(id);
    // After a failure the state in the journal is unknown, so the next group reads it again.
    this.#drop(id);
    let isFresh = seen === undefined;
    let isConflict = false;
    for (let attempt = 0; attempt < MAX_ATTEMPTS && performance.now() < until; attempt++) {
      if (!seen) seen = await this.#journal.read(place, keys);
      else if (attempt > 0) {
        seen = await this.#journal.update(place, keys, seen, isConflict);
        isFresh = true;
      }
      await this.#journal.findKeys?.(place, seen, keys);
      const { decisions, head, added } = decideAll(seen, commands);
      // The cached head may be outdated: another replica may have added the expected events or the same append.
      if (!isFresh && decisions.some(mayBeStale)) continue;
      const proposals = decisions.flatMap((decision, at): Proposal[] => {
        const { command, frame } = group[at] as QueuedChange;
        return 'entry' in decision ? [{ entry: decision.entry, command, frame }] : [];
      });
      isConflict = proposals.length > 0 && !(await this.#journal.commit(place, seen, proposals, { head, keys: added }));
      if (isConflict) continue;
      if (era === this.#era) this.#keep(id, seen);
      return decisions;
    }
    throw unavailable('Too many clients write to this session at the same time. Try again.');
  }

  #keep(id: string, seen: Seen): void {
    this.#drop(id);
    // Callers choose the ids, so a session that does not exist is not cached.
    if (!seen.head) return;
    // A replay reads keys. If the limit is zero, keeping them would drop every other session.
    if (this.#options.maxKeys === 0) seen.keys.clear();
    this.#known.set(id, seen);
    this.#keys += seen.keys.size;
    for (const oldest of this.#known.keys()) {
      const isFull = this.#known.size > this.#options.maxSessions || this.#keys > this.#options.maxKeys;
      if (oldest === id || !isFull) break;
      this.#drop(oldest);
    }
  }

  #drop(id: string): void {
    this.#keys -= this.#known.get(id)?.keys.size ?? 0;
    this.#known.delete(id);
  }
}

/** Every other refusal is final: a deleted session does not come back, and a key is never freed. */
const mayBeStale = (decision: Decision) =>
  'unchanged' in decision || ('refused' in decision && STALE.has(decision.refused));

const STALE: ReadonlySet<string> = new Set(['sequence_mismatch', 'session_closed']);

const unavailable = (sentence: string) => new Problem('service_unavailable', sentence, { retryAfter: 1 });

/** The change may still be made afterwards, so its caller must repeat it with the same key. */
const tooSlow = () => unavailable('The session could not be changed in time. Try again with the same idempotency key.');
