import type { Counter } from '../spool/meta.ts';
import type { Spool } from '../spool/open.ts';
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
}

/** A record on its way into the spool; `masked` is absent where it is only passed by. */
interface Waiting {
  file: FileBeingRead;
  record: Omit<CapturedRecord, 'events'>;
  masked: Omit<MaskedRecord, 'texts'> | undefined;
  /**
   * In UTF-8, outside of the engine's heap: as strings they last long enough to be moved to what it collects as a whole, and
   * that is done twice as often then.
   */
  texts: readonly Buffer[];
}

interface Opened {
  session: number;
  id: number;
  /** Sessions that it holds records of. */
  parents: Set<number>;
  /** The record that was read last. */
  last: Waiting['record'];
}

/** Each commit waits for the disk: with half as much 68 MB of transcripts take twice as many. */
const COMMIT_BYTES = 4 * 1024 * 1024;
/** Bounds for how long what was read first waits for the rest, where there is much: little is committed at its end. */
const COMMIT_MS = 500;

/** Takes masked records over into the spool: what was seen, the events and the cursors in one commit. */
export function createCommit({ spool, now, newKey }: CommitOptions) {
  let waiting: Waiting[] = [];
  let settled = new Set<FileBeingRead>();
  let bytes = 0;
  let since = 0;

  function clear(): void {
    waiting = [];
    settled = new Set();
    bytes = 0;
  }

  function commit(): void {
    const files = new Map<FileBeingRead, Opened>();
    const ids = new Set<number>();
    const facts = new Map<number, SessionFacts>();
    const counts = new Map<Counter, number>();
    const count = (counter: Counter, by = 1) => void counts.set(counter, (counts.get(counter) ?? 0) + by);
    const batching = createBatching({ spool, now, newKey });

    function open(file: FileBeingRead, last: Waiting['record']): Opened {
      const { origin, startedAt, cursor, leftBefore } = file;
      const { agent, root, path } = file.found;
      // A person has kept it back since it was asked for.
      if (spool.decisions.isKeptBack(agent.id, origin.session)) throw new CursorMoved();
      const session = spool.sessions.ensure(agent.id, origin.session);
      const row = { agent: agent.id, root, path, origin, startedAt, cursor, leftBefore, session };
      const id = file.id ?? spool.files.insert(row);
      // The cursors move at the end: until then a second reading of a file would look like its first.
      if (id === undefined || ids.has(id)) throw new CursorMoved();
      if (file.id !== undefined) {
        const { position, pass } = spool.files.position(id) ?? {};
        if (position !== file.committed.position || pass !== file.committed.pass) throw new CursorMoved();
        spool.files.move(id, root, path);
      }
      const opened = { session, id, parents: new Set<number>(), last };
      files.set(file, opened);
      ids.add(id);
      return opened;
    }

    function take({ file, record, masked, texts }: Waiting): void {
      const opened = files.get(file) ?? open(file, record);
      const { session } = opened;
      opened.last = record;
      if (record.keyed) refuseKept(file, record.identity);
      if (masked === undefined) {
        if (record.keyed) learnParent(file, opened, record.identity);
        count('recordsBefore');
        return;
      }
      const novelty = meet(file, opened, record);
      if (novelty !== 'new') count(novelty === 'repeated' ? 'recordsRepeated' : 'recordsReplayed');
      if (novelty === 'replayed') {
        learnCopied(file, session, record.identity, masked.facts);
        learnParent(file, opened, record.identity);
      }
      if (novelty !== 'new') return;
      count(record.tooLong ? 'linesTooLong' : record.unreadable ? 'recordsUnreadable' : 'recordsCaptured');
      count('secretsMasked', masked.masked);
      if (masked.isWithheld) count('recordsWithheld');
      for (const text of texts) batching.add(session, text);
      const { found, origin } = file;
      const known = facts.get(session) ?? { changedAt: found.modifiedAt, forkedFrom: origin.forkedFrom };
      facts.set(session, { ...mergeFacts(known, masked.facts), ended: record.ended });
    }

    function meet(file: FileBeingRead, { id, session }: Opened, { identity, keyed, writtenAt }: Waiting['record']) {
      const { meetRecord, meetLine, sessionOf, moveTo } = spool.seen;
      if (!keyed) return meetLine(id, file.cursor.pass, identity);
      const novelty = meetRecord(identity, session);
      const owner = novelty === 'replayed' ? sessionOf(identity) : undefined;
      if (owner === undefined || !isFromBefore(file, session, owner, writtenAt)) return novelty;
      moveTo(session, identity);
      return 'new';
    }

    function refuseKept({ found, origin }: FileBeingRead, identity: Uint8Array): void {
      const parent = spool.decisions.keptOwner(found.agent.id, identity);
      if (parent !== undefined && parent !== origin.session) refuseForkOf(parent, found.agent.id, origin.session);
    }

    /** Unless a person wants this very fork. */
    function refuseForkOf(parent: string, agent: string, session: string): void {
      const { decisions } = spool;
      if (!decisions.isKeptBack(agent, parent) || decisions.find(agent, session)?.isSaid) return;
      throw new ForkOfKeptBack(agent, session, parent);
    }

    /**
     * A fork that was captured before those it comes from has what they share, and they would be left with holes. Where one
     * between them is not known, whoever is no fork of that one is taken for an ancestor; two that guess so about each
     * other would take records from each other for ever, so one whose own ancestors are not known guesses only once.
     */
    function isFromBefore({ found, origin, cursor }: FileBeingRead, session: number, owner: number, writtenAt: number) {
      const fork = spool.sessions.get(owner);
      const agent = found.agent.id;
      if (fork.agent !== agent) return false;
      const line = ancestorsOf(agent, facts.get(owner)?.forkedFrom ?? fork.forkedFrom);
      if (line.names.has(origin.session)) return true;
      if (line.missing === undefined) return false;
      const stated = origin.forkedFrom ?? facts.get(session)?.forkedFrom ?? spool.sessions.get(session).forkedFrom;
      const own = ancestorsOf(agent, stated);
      if (own.names.has(fork.agentSession) || own.names.has(line.missing)) return false;
      if (stated === undefined) return writtenAt >= (startOf(session) ?? 0);
      return own.missing === undefined || cursor.pass === 0;
    }

    /** What a session was forked from, and that one, up to the first that is no fork or is `missing` here. */
    function ancestorsOf(agent: string, parent: string | undefined): { names: Set<string>; missing?: string } {
      const names = new Set<string>();
      for (let name = parent; name !== undefined && !names.has(name); ) {
        names.add(name);
        const known = spool.sessions.find(agent, name);
        if (known === undefined) return { names, missing: name };
        name = facts.get(known.id)?.forkedFrom ?? known.forkedFrom;
      }
      return { names };
    }

    /** So that it is kept back with that one. */
    function learnParent({ found, origin }: FileBeingRead, { session, parents }: Opened, identity: Uint8Array): void {
      const owner = spool.seen.sessionOf(identity);
      if (owner === undefined || owner === session || parents.has(owner)) return;
      parents.add(owner);
      const { agent, agentSession } = spool.sessions.get(owner);
      if (agent !== found.agent.id) return;
      refuseForkOf(agentSession, found.agent.id, origin.session);
      spool.decisions.addFork(agent, agentSession, origin.session);
    }

    const startOf = (session: number) => spool.sessions.get(session).firstAt ?? facts.get(session)?.firstAt;

    /**
     * A session that begins with what another one has, and said before that something later, was forked from it: the
     * copies say where it works, too. Of two that begin alike, the one that was there first says nothing of the kind;
     * when a file is read again, what stood before is not known any more.
     */
    function learnCopied(
      { found, origin, cursor }: FileBeingRead,
      session: number,
      identity: Uint8Array,
      copy: SessionFacts,
    ) {
      const { firstAt: copiedTime, cwd, branch } = copy;
      if (cursor.pass > 0 || copiedTime === undefined) return;
      const before = spool.sessions.get(session);
      const { forkedFrom: stated } = origin;
      const known: SessionFacts = facts.get(session) ?? { changedAt: found.modifiedAt, forkedFrom: stated };
      const ownTime = startOf(session);
      const isFork = ownTime !== undefined && copiedTime < ownTime && before.forkedFrom === undefined;
      const owner = isFork ? spool.seen.sessionOf(identity) : undefined;
      if (owner === undefined) return;
      const forkedFrom = stated ?? spool.sessions.get(owner).agentSession;
      facts.set(session, { ...mergeFacts(known, { cwd, branch }), forkedFrom, ended: known.ended });
    }

    for (const one of waiting) take(one);
    count('eventsSpooled', batching.seal());
    for (const [session, learned] of facts) spool.sessions.learn(session, learned);
    for (const file of settled) spool.sessions.settle(files.get(file)?.session ?? 0);
    for (const [counter, by] of counts) spool.count(counter, by);
    for (const [file, { id, last }] of files) {
      const cursor = last.cursor();
      spool.files.advance(id, cursor, file.leftBefore);
      file.id = id;
      file.committed = { position: cursor.position, pass: cursor.pass };
    }
  }

  return {
    add(file: FileBeingRead, { events, ...record }: CapturedRecord, masked: MaskedRecord | undefined): void {
      if (waiting.length === 0) since = performance.now();
      const { texts: plain = [], ...facts } = masked ?? {};
      const texts = plain.map((text) => Buffer.from(text));
      waiting.push({ file, record, masked: masked && (facts as Waiting['masked']), texts });
      bytes += record.bytes + texts.reduce((sum, text) => sum + text.length, 0);
    },
    /** All of the file's session is read. */
    settle: (file: FileBeingRead) => void settled.add(file),
    /** Whether it is time to commit. */
    isDue: () => waiting.length > 0 && (bytes >= COMMIT_BYTES || performance.now() - since >= COMMIT_MS),
    /** Throws `CursorMoved`, and then has taken nothing over. */
    commit(): void {
      try {
        if (waiting.length > 0) spool.transact(commit);
      } catch (error) {
        if (error instanceof ForkOfKeptBack) {
          spool.transact(() => spool.decisions.inherit(error.agent, error.session, error.parent, now()));
        }
        throw error;
      } finally {
        clear();
      }
    },
    clear,
  };
}
