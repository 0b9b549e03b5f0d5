import { lineageOf } from '../decide/lineage.ts';
import { openFrom } from '../decide/periods.ts';
import type { FileRow } from '../spool/files.ts';
import type { Counter } from '../spool/meta.ts';
import type { Spool } from '../spool/open.ts';
import type { Novelty } from '../spool/seen.ts';
import type { SessionFacts } from '../spool/sessions.ts';
import { createBatching } from './batching.ts';
import { mergeFacts, parentOf } from './facts.ts';
import { FormCounts } from './forms.ts';
import type { MaskedRecord } from './mask.ts';
import type { OpenTranscript } from './open.ts';

/** Another process has read the same file, or a person has kept its session back. The reader's knowledge is outdated. */
export class CursorMoved extends Error {}

/** The file contains a record of a session that a person has kept back, so the file's session was forked from it. */
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
}

/** Each commit waits for the disk. At half this size, 68 MB of transcripts take twice as many commits. */
const COMMIT_BYTES = 4 * 1024 * 1024;
/**
 * The longest time that records wait for a commit while much is read. If there is little to read, it is committed at the
 * end.
 */
const COMMIT_MS = 500;

/** Takes masked records over into the spool. One commit stores the hashes of seen records, the events and the cursors. */
export class Commits {
  readonly #options: CommitOptions;
  #pending: [OpenTranscript, MaskedRecord][] = [];
  /** Files of sessions that were read completely. */
  #settled = new Set<OpenTranscript>();
  #bytes = 0;
  /** When the first of the pending records was added, by a monotonic clock. */
  #since = 0;

  constructor(options: CommitOptions) {
    this.#options = options;
  }

  add(file: OpenTranscript, record: MaskedRecord): void {
    if (this.#pending.length === 0) this.#since = performance.now();
    this.#pending.push([file, record]);
    const { texts = [] } = record.content ?? {};
    this.#bytes += record.bytes + texts.reduce((sum, text) => sum + text.length, 0);
  }

  /** Marks the file's session as read completely. */
  settle(file: OpenTranscript): void {
    this.#settled.add(file);
  }

  /** Whether it is time to commit. */
  isDue(): boolean {
    if (this.#pending.length === 0) return false;
    return this.#bytes >= COMMIT_BYTES || performance.now() - this.#since >= COMMIT_MS;
  }

  /**
   * Takes nothing over if it throws `CursorMoved`.
   * @param isOutdated whether the pauses have changed since the records were read
   */
  commit(isOutdated: () => boolean): void {
    const { spool, now } = this.#options;
    try {
      if (this.#pending.length > 0) {
        spool.transact(() => {
          if (isOutdated()) throw new CursorMoved();
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

/** One unit of work. It writes what it learns at its end. */
class Commit {
  readonly #spool: Spool;
  readonly #batching: ReturnType<typeof createBatching>;
  readonly #files = new Map<OpenTranscript, FileRow>();
  /** The ids of the files. */
  readonly #ids = new Set<number>();
  /** The known parents of sessions, as `session parent`. */
  readonly #parents = new Set<string>();
  /** The names of other sessions in the records of sessions, as `session name`. */
  readonly #named = new Set<string>();
  /** Sessions with the kept-back sessions that contain some of their records, and do not keep them back. */
  readonly #harmless = new Set<string>();
  readonly #facts = new Map<number, SessionFacts>();
  readonly #counts = new Map<Counter, number>();
  readonly #forms = new FormCounts();
  readonly #now: CommitOptions['now'];
  /** Whether any records of kept-back sessions exist. The check runs once, since most people have none. */
  readonly #hasKeptBack: boolean;

  constructor(options: CommitOptions) {
    this.#spool = options.spool;
    this.#now = options.now;
    this.#hasKeptBack = options.spool.decisions.hasKeptBack();
    this.#batching = createBatching(options);
  }

  write(pending: readonly [OpenTranscript, MaskedRecord][], settled: ReadonlySet<OpenTranscript>): void {
    const { sessions, files } = this.#spool;
    for (const [file, record] of pending) this.#takeOver(file, record);
    this.#count('eventsSpooled', this.#batching.seal());
    for (const [session, learned] of this.#facts) sessions.learn(session, learned);
    for (const file of settled) sessions.settle(this.#files.get(file)?.session ?? 0);
    for (const [counter, by] of this.#counts) this.#spool.count(counter, by);
    this.#forms.write(this.#spool.forms, this.#now());
    for (const [file, last] of new Map(pending)) {
      const row = this.#files.get(file) as FileRow;
      const cursor = last.cursor();
      files.advance(row, cursor);
      file.id = row.id;
      file.committed = { position: cursor.position, pass: cursor.pass };
    }
  }

  #count(counter: Counter, by = 1): void {
    this.#counts.set(counter, (this.#counts.get(counter) ?? 0) + by);
  }

  #open(file: OpenTranscript): FileRow {
    const { decisions, sessions, files } = this.#spool;
    const { origin, startedAt, cursor, closed } = file;
    const { agent, root, path } = file;
    // A person has kept the session back since the last check.
    if (decisions.isKeptBack(agent.id, origin.session)) throw new CursorMoved();
    const session = sessions.ensure(agent.id, origin.session);
    const leftBefore = openFrom(closed) || undefined;
    const row = { agent: agent.id, root, path, origin, startedAt, cursor, leftBefore, isCaptured: false, session };
    const id = file.id ?? files.insert(row);
    // The cursors move at the end. Until then, a second reading of a file would look like the first one.
    if (id === undefined || this.#ids.has(id)) throw new CursorMoved();
    if (file.id !== undefined) {
      const { position, pass } = files.position(id) ?? {};
      if (position !== file.committed.position || pass !== file.committed.pass) throw new CursorMoved();
      files.move(id, root, path);
    }
    const opened = { ...row, id };
    this.#files.set(file, opened);
    this.#ids.add(id);
    return opened;
  }

  #takeOver(file: OpenTranscript, record: MaskedRecord): void {
    const row = this.#files.get(file) ?? this.#open(file);
    const { id, session } = row;
    const { identity, content } = record;
    if (record.session !== undefined) this.#learnNamed(file, session, record.session);
    if (record.keyed && this.#hasKeptBack) this.#refuseKeptBack(file, session, identity);
    if (content === undefined) {
      if (record.keyed) this.#learnParent(file, session, identity);
      this.#count('recordsBefore');
      return;
    }
    row.isCaptured = true;
    const novelty = this.#meet(file, id, session, record);
    if (novelty !== 'new') this.#count(novelty === 'repeated' ? 'recordsRepeated' : 'recordsReplayed');
    if (novelty === 'replayed') {
      this.#learnCopied(file, session, identity, content.facts);
      this.#learnParent(file, session, identity);
    }
    if (novelty !== 'new') return;
    this.#count(record.tooLong ? 'linesTooLong' : record.unreadable ? 'recordsUnreadable' : 'recordsCaptured');
    this.#forms.add(file.agent.id, content.form, record.tooLong);
    this.#count('secretsMasked', content.masked);
    if (content.isWithheld) this.#count('recordsWithheld');
    for (const text of content.texts) this.#batching.add(session, text);
    this.#facts.set(session, { ...mergeFacts(this.#factsOf(file, session), content.facts), ended: record.ended });
  }

  /** The facts that this commit has learned about a file's session so far. */
  #factsOf({ modifiedAt, origin }: OpenTranscript, session: number): SessionFacts {
    return this.#facts.get(session) ?? { modifiedAt, forkedFrom: parentOf(origin) };
  }

  #meet(file: OpenTranscript, id: number, session: number, record: MaskedRecord): Novelty {
    const { identity, keyed } = record;
    const { meetRecord, meetLine, sessionOf, moveTo } = this.#spool.seen;
    if (!keyed) return meetLine(id, file.cursor.pass, identity);
    const novelty = meetRecord(identity, session);
    const owner = novelty === 'replayed' ? sessionOf(identity) : undefined;
    if (owner === undefined || !this.#isAncestor(file, session, owner, record)) return novelty;
    moveTo(session, identity);
    return 'new';
  }

  /** Decides once in a commit about each kept-back session: a fork may share thousands of records with the file. */
  #refuseKeptBack({ agent, origin }: OpenTranscript, session: number, identity: Uint8Array): void {
    for (const parent of this.#spool.decisions.keptBackOwners(agent.id, identity)) {
      const pair = `${session} ${parent}`;
      if (parent === origin.session || this.#harmless.has(pair)) continue;
      this.#refuseForkOf(parent, agent.id, origin.session);
      this.#harmless.add(pair);
    }
  }

  /** Refuses a fork of a kept-back session, unless a person wants this very fork or the kept-back session is the fork. */
  #refuseForkOf(parent: string, agent: string, session: string): void {
    const { decisions } = this.#spool;
    if (!decisions.isKeptBack(agent, parent)) return;
    const known = decisions.find(agent, session);
    if (known?.isByPerson) return;
    if (known !== undefined && this.#isForkOf(agent, parent, session) && !this.#isForkOf(agent, session, parent))
      return;
    throw new ForkOfKeptBack(agent, session, parent);
  }

  /**
   * Learns that a record names another session, so this session contains a copy from it, even if the other one is a fork of this
   * one. A person's decision about the other session then applies to this one, too.
   */
  #learnNamed(file: OpenTranscript, session: number, name: string): void {
    const { decisions } = this.#spool;
    const { origin } = file;
    const agent = file.agent.id;
    if (name === origin.session || this.#named.has(`${session} ${name}`)) return;
    this.#named.add(`${session} ${name}`);
    if (decisions.find(agent, name) === undefined) return;
    decisions.addFork(agent, name, origin.session);
    this.#refuseForkOf(name, agent, origin.session);
  }

  /** Whether a session was forked from another one, or from a fork of it. */
  #isForkOf(agent: string, session: string, ancestor: string): boolean {
    const find = (name: string) => this.#spool.decisions.find(agent, name);
    return lineageOf(find(session) ?? { session }, find).some((one) => one.session === ancestor);
  }

  /**
   * Whether `owner` was forked from this session, which repeats a record of `owner`. If so, the fork was captured first, and
   * the session would be left with holes. If a session in the chain of forks is missing, this assumes that this session is
   * the ancestor. It does so only once, or two forks would take records from each other for ever.
   */
  #isAncestor(file: OpenTranscript, session: number, owner: number, record: MaskedRecord): boolean {
    const { sessions } = this.#spool;
    const { origin, cursor } = file;
    const fork = sessions.get(owner);
    const agent = file.agent.id;
    if (fork.agent !== agent || fork.agentSession === record.session) return false;
    const chain = this.#ancestorsOf(agent, this.#facts.get(owner)?.forkedFrom ?? fork.forkedFrom);
    if (chain.names.has(origin.session)) return true;
    if (chain.missing === undefined) return false;
    const stated = origin.forkedFrom ?? this.#facts.get(session)?.forkedFrom ?? sessions.get(session).forkedFrom;
    const own = this.#ancestorsOf(agent, stated);
    if (own.names.has(fork.agentSession) || own.names.has(chain.missing)) return false;
    if (stated === undefined) return record.occurredAt >= (this.#startOf(session) ?? 0);
    return own.missing === undefined || cursor.pass === 0;
  }

  /**
   * The names of a session's ancestors, up to the first session that is no fork. `missing` is an ancestor that this spool
   * does not have.
   */
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

  /** Stores the parent, so that the session is kept back together with it. */
  #learnParent({ agent, origin }: OpenTranscript, session: number, identity: Uint8Array): void {
    const { seen, sessions, decisions } = this.#spool;
    const owner = seen.sessionOf(identity);
    if (owner === undefined || owner === session || this.#parents.has(`${session} ${owner}`)) return;
    this.#parents.add(`${session} ${owner}`);
    const parent = sessions.get(owner);
    if (parent.agent !== agent.id) return;
    this.#refuseForkOf(parent.agentSession, agent.id, origin.session);
    decisions.addFork(agent.id, parent.agentSession, origin.session);
  }

  /** When a session's first record was written, in milliseconds since 1970, as far as it is known. */
  #startOf(session: number): number | undefined {
    return this.#spool.sessions.get(session).firstAt ?? this.#facts.get(session)?.firstAt;
  }

  /**
   * Learns a fork that begins with a record of its own. If a session writes a record, and then older records of another session,
   * it was forked from that session. The copies also name its working folder. Of two sessions with the same beginning, the older
   * one has no record of its own before it. When a file is read again, the facts from before its copies are no longer known.
   */
  #learnCopied(file: OpenTranscript, session: number, identity: Uint8Array, copy: SessionFacts): void {
    const { seen, sessions } = this.#spool;
    const { firstAt: copiedTime, cwd, branch } = copy;
    if (file.cursor.pass > 0 || copiedTime === undefined) return;
    const known = this.#factsOf(file, session);
    const startedAt = this.#startOf(session);
    const isFork = startedAt !== undefined && copiedTime < startedAt && sessions.get(session).forkedFrom === undefined;
    const owner = isFork ? seen.sessionOf(identity) : undefined;
    if (owner === undefined) return;
    const forkedFrom = parentOf(file.origin) ?? sessions.get(owner).agentSession;
    this.#facts.set(session, { ...mergeFacts(known, { cwd, branch }), forkedFrom, ended: known.ended });
  }
}
