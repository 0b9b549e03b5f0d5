import type { Counter } from '../spool/meta.ts';
import type { Spool } from '../spool/open.ts';
import type { Novelty } from '../spool/seen.ts';
import type { SessionFacts } from '../spool/sessions.ts';
import { createBatching } from './batching.ts';
import { mergeFacts } from './facts.ts';
import type { FileBeingRead } from './identify.ts';
import type { MaskedRecord } from './mask.ts';
import type { CapturedRecord } from './record.ts';

/** Another process has read the same file, or a person has kept its session back: what is known here is outdated. */
export class CursorMoved extends Error {}

/** It holds a record of another session, which it was therefore forked from, and which a person has kept back. */
class ForkOfKeptBack extends CursorMoved {
  readonly agent: string;
  readonly session: string;
  readonly parent: string;

  constructor(agent: string, session: string, parent: string) {
    super();
    this.agent = agent;
    this.session = session;
    this.parent = parent;
  }
}

export interface CommitOptions {
  spool: Spool;
  /** Milliseconds since 1970. */
  now: () => number;
  newKey: () => string;
  /** Whether what a person said has changed since the records were read; nothing is taken over then. */
  isOutdated?: () => boolean;
}

/** A record on its way into the spool; `masked` is absent where it is only passed by. */
interface PendingRecord {
  file: FileBeingRead;
  record: Omit<CapturedRecord, 'events'>;
  masked: Omit<MaskedRecord, 'texts'> | undefined;
  /**
   * In UTF-8, outside of the engine's heap: as strings they last long enough to be moved to what it collects as a whole, and
   * that is done twice as often then.
   */
  texts: readonly Buffer[];
}

/** A file as this commit knows it. */
interface CommittedFile {
  session: number;
  id: number;
  /** Sessions that it holds records of. */
  parents: Set<number>;
  /** The record that was read last. */
  last: PendingRecord['record'];
}

/** Each commit waits for the disk: with half as much 68 MB of transcripts take twice as many. */
const COMMIT_BYTES = 4 * 1024 * 1024;
/** Bounds for how long what was read first waits for the rest, where there is much: little is committed at its end. */
const COMMIT_MS = 500;

/** Takes masked records over into the spool: what was seen, the events and the cursors in one commit. */
export class Commits {
  readonly #options: CommitOptions;
  #pending: PendingRecord[] = [];
  /** Files of sessions that were read completely. */
  #settled = new Set<FileBeingRead>();
  #bytes = 0;
  /** When the first of the pending records was added, by a clock that is never set. */
  #since = 0;

  constructor(options: CommitOptions) {
    this.#options = options;
  }

  add(file: FileBeingRead, { events, ...record }: CapturedRecord, masked: MaskedRecord | undefined): void {
    if (this.#pending.length === 0) this.#since = performance.now();
    const { texts: plain = [], ...facts } = masked ?? {};
    const texts = plain.map((text) => Buffer.from(text));
    this.#pending.push({ file, record, masked: masked && (facts as PendingRecord['masked']), texts });
    this.#bytes += record.bytes + texts.reduce((sum, text) => sum + text.length, 0);
  }

  /** All of the file's session is read. */
  settle(file: FileBeingRead): void {
    this.#settled.add(file);
  }

  /** Whether it is time to commit. */
  isDue(): boolean {
    if (this.#pending.length === 0) return false;
    return this.#bytes >= COMMIT_BYTES || performance.now() - this.#since >= COMMIT_MS;
  }

  /** Throws `CursorMoved`, and then has taken nothing over. */
  commit(): void {
    const { spool, now, isOutdated } = this.#options;
    try {
      if (this.#pending.length > 0) {
        spool.transact(() => {
          if (isOutdated?.()) throw new CursorMoved();
          new Commit(this.#options).write(this.#pending, this.#settled);
        });
      }
    } catch (error) {
      if (error instanceof ForkOfKeptBack) {
        spool.transact(() => spool.decisions.inherit(error.agent, error.session, error.parent, now()));
      }
      throw error;
    } finally {
      this.clear();
    }
  }

  clear(): void {
    this.#pending = [];
    this.#settled = new Set();
    this.#bytes = 0;
  }
}

/** One unit of work: what it learns is written at its end. */
class Commit {
  readonly #spool: Spool;
  readonly #batching: ReturnType<typeof createBatching>;
  readonly #files = new Map<FileBeingRead, CommittedFile>();
  /** The files' ids. */
  readonly #ids = new Set<number>();
  readonly #facts = new Map<number, SessionFacts>();
  readonly #counts = new Map<Counter, number>();
  /** Whether there are records to tell a fork of a session that is kept back by: asked once, since most people have none. */
  readonly #hasKept: boolean;

  constructor(options: CommitOptions) {
    this.#spool = options.spool;
    this.#hasKept = options.spool.decisions.hasKept();
    this.#batching = createBatching(options);
  }

  write(pending: readonly PendingRecord[], settled: ReadonlySet<FileBeingRead>): void {
    const { sessions, files } = this.#spool;
    for (const one of pending) this.#takeOver(one);
    this.#count('eventsSpooled', this.#batching.seal());
    for (const [session, learned] of this.#facts) sessions.learn(session, learned);
    for (const file of settled) sessions.settle(this.#files.get(file)?.session ?? 0);
    for (const [counter, by] of this.#counts) this.#spool.count(counter, by);
    for (const [file, { id, last }] of this.#files) {
      const cursor = last.cursor();
      files.advance(id, cursor, file.leftBefore);
      file.id = id;
      file.committed = { position: cursor.position, pass: cursor.pass };
    }
  }

  #count(counter: Counter, by = 1): void {
    this.#counts.set(counter, (this.#counts.get(counter) ?? 0) + by);
  }

  #open(file: FileBeingRead, last: PendingRecord['record']): CommittedFile {
    const { decisions, sessions, files } = this.#spool;
    const { origin, startedAt, cursor, leftBefore } = file;
    const { agent, root, path } = file.found;
    // A person has kept it back since the last check.
    if (decisions.isKeptBack(agent.id, origin.session)) throw new CursorMoved();
    const session = sessions.ensure(agent.id, origin.session);
    const row = { agent: agent.id, root, path, origin, startedAt, cursor, leftBefore, session };
    const id = file.id ?? files.insert(row);
    // The cursors move at the end: until then a second reading of a file would look like its first.
    if (id === undefined || this.#ids.has(id)) throw new CursorMoved();
    if (file.id !== undefined) {
      const { position, pass } = files.position(id) ?? {};
      if (position !== file.committed.position || pass !== file.committed.pass) throw new CursorMoved();
      files.move(id, root, path);
    }
    const opened = { session, id, parents: new Set<number>(), last };
    this.#files.set(file, opened);
    this.#ids.add(id);
    return opened;
  }

  #takeOver({ file, record, masked, texts }: PendingRecord): void {
    const opened = this.#files.get(file) ?? this.#open(file, record);
    const { session } = opened;
    opened.last = record;
    if (record.keyed && this.#hasKept) this.#refuseKept(file, record.identity);
    if (masked === undefined) {
      if (record.keyed) this.#learnParent(file, opened, record.identity);
      this.#count('recordsBefore');
      return;
    }
    const novelty = this.#meet(file, opened, record);
    if (novelty !== 'new') this.#count(novelty === 'repeated' ? 'recordsRepeated' : 'recordsReplayed');
    if (novelty === 'replayed') {
      this.#learnCopied(file, session, record.identity, masked.facts);
      this.#learnParent(file, opened, record.identity);
    }
    if (novelty !== 'new') return;
    this.#count(record.tooLong ? 'linesTooLong' : record.unreadable ? 'recordsUnreadable' : 'recordsCaptured');
    this.#count('secretsMasked', masked.masked);
    if (masked.isWithheld) this.#count('recordsWithheld');
    for (const text of texts) this.#batching.add(session, text);
    this.#facts.set(session, { ...mergeFacts(this.#factsOf(file, session), masked.facts), ended: record.ended });
  }

  /** What this commit has learned of a file's session so far. */
  #factsOf({ found, origin }: FileBeingRead, session: number): SessionFacts {
    return this.#facts.get(session) ?? { changedAt: found.modifiedAt, forkedFrom: origin.forkedFrom };
  }

  #meet(file: FileBeingRead, { id, session }: CommittedFile, record: PendingRecord['record']): Novelty {
    const { identity, keyed, writtenAt } = record;
    const { meetRecord, meetLine, sessionOf, moveTo } = this.#spool.seen;
    if (!keyed) return meetLine(id, file.cursor.pass, identity);
    const novelty = meetRecord(identity, session);
    const owner = novelty === 'replayed' ? sessionOf(identity) : undefined;
    if (owner === undefined || !this.#isAncestor(file, session, owner, writtenAt)) return novelty;
    moveTo(session, identity);
    return 'new';
  }

  #refuseKept({ found, origin }: FileBeingRead, identity: Uint8Array): void {
    const parent = this.#spool.decisions.keptOwner(found.agent.id, identity);
    if (parent !== undefined && parent !== origin.session) this.#refuseForkOf(parent, found.agent.id, origin.session);
  }

  /** Unless a person wants this very fork, or it is the other one that was forked. */
  #refuseForkOf(parent: string, agent: string, session: string): void {
    const { decisions } = this.#spool;
    if (!decisions.isKeptBack(agent, parent)) return;
    const known = decisions.find(agent, session);
    if (known?.isSaid) return;
    const isOrigin = decisions.find(agent, parent)?.parents.includes(session) ?? false;
    if (isOrigin && known?.parents.includes(parent) === false) return;
    throw new ForkOfKeptBack(agent, session, parent);
  }

  /**
   * Whether a session that repeats a record of `owner` is one that `owner` was forked from: then the fork was captured first,
   * and the session would be left with holes. If a session in the fork chain is missing, this assumes that the other session
   * is the ancestor, but only once, or two forks would take records from each other for ever.
   */
  #isAncestor({ found, origin, cursor }: FileBeingRead, session: number, owner: number, writtenAt: number): boolean {
    const { sessions } = this.#spool;
    const fork = sessions.get(owner);
    const agent = found.agent.id;
    if (fork.agent !== agent) return false;
    const chain = this.#ancestorsOf(agent, this.#facts.get(owner)?.forkedFrom ?? fork.forkedFrom);
    if (chain.names.has(origin.session)) return true;
    if (chain.missing === undefined) return false;
    const stated = origin.forkedFrom ?? this.#facts.get(session)?.forkedFrom ?? sessions.get(session).forkedFrom;
    const own = this.#ancestorsOf(agent, stated);
    if (own.names.has(fork.agentSession) || own.names.has(chain.missing)) return false;
    if (stated === undefined) return writtenAt >= (this.#startOf(session) ?? 0);
    return own.missing === undefined || cursor.pass === 0;
  }

  /** What a session was forked from, and that one, up to the first that is no fork or is `missing` here. */
  #ancestorsOf(agent: string, parent: string | undefined): { names: Set<string>; missing?: string } {
    const names = new Set<string>();
    for (let name = parent; name !== undefined && !names.has(name); ) {
      names.add(name);
      const known = this.#spool.sessions.find(agent, name);
      if (known === undefined) return { names, missing: name };
      name = this.#facts.get(known.id)?.forkedFrom ?? known.forkedFrom;
    }
    return { names };
  }

  /** So that it is kept back with that one. */
  #learnParent({ found, origin }: FileBeingRead, { session, parents }: CommittedFile, identity: Uint8Array): void {
    const { seen, sessions, decisions } = this.#spool;
    const owner = seen.sessionOf(identity);
    if (owner === undefined || owner === session || parents.has(owner)) return;
    parents.add(owner);
    const { agent, agentSession } = sessions.get(owner);
    if (agent !== found.agent.id) return;
    this.#refuseForkOf(agentSession, found.agent.id, origin.session);
    decisions.addFork(agent, agentSession, origin.session);
  }

  /** When a session's first record was written, in milliseconds since 1970, as far as it is known. */
  #startOf(session: number): number | undefined {
    return this.#spool.sessions.get(session).firstAt ?? this.#facts.get(session)?.firstAt;
  }

  /**
   * A session that begins with what another one has, and said before that something later, was forked from it: the
   * copies say where it works, too. Of two that begin alike, the one that was there first says nothing of the kind;
   * when a file is read again, what stood before is not known any more.
   */
  #learnCopied(file: FileBeingRead, session: number, identity: Uint8Array, copy: SessionFacts): void {
    const { seen, sessions } = this.#spool;
    const { firstAt: copiedTime, cwd, branch } = copy;
    if (file.cursor.pass > 0 || copiedTime === undefined) return;
    const known = this.#factsOf(file, session);
    const ownTime = this.#startOf(session);
    const isFork = ownTime !== undefined && copiedTime < ownTime && sessions.get(session).forkedFrom === undefined;
    const owner = isFork ? seen.sessionOf(identity) : undefined;
    if (owner === undefined) return;
    const forkedFrom = file.origin.forkedFrom ?? sessions.get(owner).agentSession;
    this.#facts.set(session, { ...mergeFacts(known, { cwd, branch }), forkedFrom, ended: known.ended });
  }
}
