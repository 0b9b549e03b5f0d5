import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redactor } from '../../redact/redactor.ts';
import { beginningOf, lineageOf } from '../decide/lineage.ts';
import { followClock, isActive, NOTED_EVERY_MS, type Pause } from '../decide/pauses.ts';
import {
  type Closed,
  type Consent,
  closedPeriodsOf,
  lacksConsent,
  openFrom,
  whyAllStays,
  whyStays,
} from '../decide/periods.ts';
import { collectAfter } from '../memory.ts';
import type { Policy } from '../privacy/policy.ts';
import type { FileRow } from '../spool/files.ts';
import type { Spool } from '../spool/open.ts';
import { type CommitOptions, Commits, CursorMoved } from './commit.ts';
import { findTranscripts, type Place, stampOf, type Transcript, type Trouble, tolerateFileErrors } from './discover.ts';
import type { UnreadTranscript } from './identify.ts';
import type { RecordHash } from './identity.ts';
import { emptyLog, findHooked, markHooked, sortInboxes } from './inbox.ts';
import { byAge, byRank, findUnjudged, judgeSessions, type SessionStart } from './judge.ts';
import { findKeptBack } from './kept-back.ts';
import { createMask, withoutContent } from './mask.ts';
import { type OpenTranscript, openRecords } from './open.ts';
import type { CapturedRecord, RecordStream } from './record.ts';
import { MOMENT_MS } from './stored/records.ts';
import { findAllUnread } from './unread.ts';

export interface ReaderOptions extends CommitOptions {
  redactor: Pick<Redactor, 'redact'>;
  hashRecord: RecordHash;
  /**
   * A file without any record is left alone for this long after its last change, because its first record may still be
   * written.
   */
  patienceMs: number;
  maxLineBytes?: number;
  onTrouble: (trouble: Trouble) => void;
  /** Decides which sessions are wanted. All of them where absent. */
  policy?: Policy;
  /** The person's consent for earlier sessions. Everything is allowed where absent. */
  consent?: Consent | undefined;
  /** The state folder of capture, where hooks may have left notes. */
  state?: string;
}

/** The work of one round. */
export interface Work {
  /** The places of the search. */
  places: readonly Place[];
  sessions: UnreadTranscript[][];
  bytes: number;
  /** The number of transcripts, new or not. */
  files: number;
  /** Files that have new records but belong to sessions that are kept back. */
  keptBack: KeptBack[];
  /** Files that were last written before capturing began, without consent, and that no earlier round met. */
  earlier: Transcript[];
}

export interface KeptBack {
  agent: string;
  session: string;
  path: string;
  reason: string;
}

export interface Progress {
  /** Called after each commit with content. If it returns a promise, the reader waits for it. */
  onCommit(bytes: number): unknown;
  isStopped(): boolean;
  /** Whether the sender is sending. If so, reading waits while the spool contains many events. */
  isFlowing?(): boolean;
}

/**
 * How many unsent bytes the spool may contain before reading waits for the sender: transcripts are a better place for them. If
 * nothing is being sent, reading does not wait, since an agent may delete a transcript before the service is back.
 */
const SPOOL_BYTES = 64 * 1024 * 1024;

/** Lets requests progress between two commits, and waits while the spool contains many unsent bytes. */
export async function waitForSender(spool: Spool, { isStopped, isFlowing = () => false }: Omit<Progress, 'onCommit'>) {
  await sleep(0);
  while (!isStopped() && isFlowing() && spool.batches.bytesToSend() > SPOOL_BYTES) await sleep(50);
}

/** A store may still be writing a record. After this long without a change, the record is captured as it is. */
const SETTLE_MS = 10_000;
/** After this long, an unterminated last line counts as cut off: nobody will write the rest. */
const ABANDONED_MS = 10 * 60_000;
/** How many files are open at once. Systems allow a process 256 and more, and a session may have a thousand sub-agents. */
const MAX_OPEN = 100;
/** The limit for all files of a session together. */
const BUFFER_BYTES = 16 * 1024 * 1024;

/** The new part of a store's file cannot be measured, so its whole size counts. */
export const bytesOf = ({ size, cursor, stored }: UnreadTranscript) =>
  stored ? size : Math.max(0, size - cursor.position);

export function createReader(options: ReaderOptions) {
  const { spool, now, patienceMs, onTrouble, maxLineBytes, policy, consent, state } = options;
  const mask = createMask(options.redactor);
  let pauses = spool.decisions.pauses();
  let clock = now();
  const commits = new Commits(options);
  const isWanted = (row: FileRow) => openFrom(closedOf(row.agent, row)) < (row.leftBefore ?? 0);
  // The size and time of files that were read to their end. A file at rest then costs one `stat`.
  const atRest = new Map<string, string>();

  /** Looks for transcripts that have grown, and groups them by session, oldest first. */
  function findWork(places: readonly Place[]): Work {
    const unread: UnreadTranscript[] = [];
    const keptBack: KeptBack[] = [];
    const known = new Set<number>();
    const earlier: Transcript[] = [];
    if (policy?.refresh()) {
      atRest.clear();
      spool.finishKeepingBack();
    }
    takePauses();
    if (state !== undefined) sortInboxes(state, places, onTrouble);
    const transcripts: {
      rest: string;
      isYoung: boolean;
      transcript: Transcript;
      hooked: ReturnType<typeof findHooked>;
      files: UnreadTranscript[];
    }[] = [];
    const unjudged: SessionStart[] = [];
    const there = findTranscripts(places, onTrouble);
    for (const transcript of there) {
      const rest = restKeyOf(transcript);
      if (atRest.get(rest) === stampOf(transcript)) continue;
      const key = keyOf(transcript);
      const hooked = findHooked(transcript, state, now());
      if (hooked === 'all' || hooked === 'unclear') continue;
      tolerateFileErrors(key, onTrouble, () => {
        const isYoung = now() - transcript.modifiedAt < patienceMs;
        const files = findAllUnread(spool, transcript, { now: now(), isYoung, isWanted });
        transcripts.push({ rest, isYoung, transcript, hooked, files });
        if (files.length === 0 && policy) unjudged.push(...findUnjudged(spool, policy, transcript));
      });
    }
    const all = [...unjudged, ...transcripts.flatMap(({ files }) => files)];
    const objections = policy && judgeSessions(policy, options.hashRecord, all);
    policy?.store();
    for (const { rest, isYoung, transcript, hooked, files } of transcripts) {
      const isKeptBack = (file: UnreadTranscript) => objections?.get(file) !== undefined;
      for (const file of files.filter(isKeptBack)) {
        const reason = objections?.get(file) ?? '';
        keptBack.push(toKeptBack(file, reason));
        if (policy) noteKeptBack(file);
        if (policy?.isSettled(file.agent.id, file.origin.session, reason)) emptyLog(state, file, undefined);
      }
      const allowed = files.filter((file) => !isKeptBack(file)).map((file) => markHooked(file, hooked));
      let isRead = false;
      for (const file of allowed) {
        const why = whyAllStays(file.modifiedAt, closedOf(file.agent.id, file));
        isRead ||= why === undefined;
        if (lacksConsent(why)) earlier.push(file);
        if (why === undefined && isFirst(file, known)) unread.push(file);
      }
      if (!isRead && !isYoung) atRest.set(rest, stampOf(transcript));
    }
    const bytes = unread.reduce((sum, file) => sum + bytesOf(file), 0);
    return { places, sessions: groupBySession(unread), bytes, files: there.length, keptBack, earlier };
  }

  function takePauses(): void {
    const { decisions } = spool;
    clock = now();
    pauses = decisions.pauses();
    if (!pauses.some((pause) => isActive(pause, clock))) return;
    spool.transact(() => {
      pauses = followClock(decisions.pauses(), clock, decisions.clock());
      if (!areSame(pauses, decisions.pauses())) spool.setPauses(pauses);
      if (clock > decisions.clock() + NOTED_EVERY_MS) spool.noteClock(clock);
    });
  }

  /** The periods of a transcript's session whose records stay on this machine. */
  function closedOf(agent: string, file: Pick<FileRow, 'origin' | 'startedAt'>): Closed[] {
    const find = (session: string) => policy?.find(agent, session);
    const expiredUntil = (session: string) => spool.sessions.expiredUntil(agent, session);
    return closedPeriodsOf(lineageOf(beginningOf(file, find), find), { consent, pauses, expiredUntil });
  }

  /** If a file was moved to two places, one of them is read. After that, the other is known as a copy. */
  function isFirst({ id }: UnreadTranscript, known: Set<number>): boolean {
    if (id === undefined) return true;
    const isNew = !known.has(id);
    known.add(id);
    return isNew;
  }

  function noteKeptBack(file: UnreadTranscript): void {
    tolerateFileErrors(keyOf(file), onTrouble, () => {
      const note = findKeptBack(spool.decisions, options.hashRecord, file);
      if (note) spool.transact(note);
    });
  }

  /** Reads all of the work. Returns false if another process interfered: then look again. */
  async function read({ sessions }: Work, progress: Progress): Promise<boolean> {
    let bytes = 0;
    const known = pauses;
    // The periods of the open transcripts do not include a pause that began meanwhile. Pauses never become what they were.
    const isOutdated = () => !areSame(known, spool.decisions.pauses());

    async function commit(): Promise<void> {
      commits.commit(isOutdated);
      const done = bytes;
      bytes = 0;
      if (done === 0) return;
      await progress.onCommit(done);
      await waitForSender(spool, progress);
    }

    async function readSession(files: readonly UnreadTranscript[]): Promise<void> {
      for (let at = 0; at < files.length; at += MAX_OPEN) {
        await readTogether(files.slice(at, at + MAX_OPEN), at + MAX_OPEN >= files.length);
      }
    }

    async function readTogether(files: readonly UnreadTranscript[], isLast: boolean): Promise<void> {
      const transcripts = openAll(files);
      try {
        for (const one of transcripts) one.next = one.stream.next();
        for (let one = earliestOf(transcripts); one?.next && !progress.isStopped(); ) {
          const record = one.next;
          const from = { agent: one.agent.id, path: one.path, origin: one.origin };
          commits.add(one, stays(one, record) ? withoutContent(record) : mask(from, record));
          bytes += record.bytes;
          one.next = one.stream.next();
          const last = one;
          one = earliestOf(transcripts);
          // This is in one commit with the session's last record, so that no session is left unsettled.
          if (one === undefined && isLast) commits.settle(last);
          if (commits.isDue()) await commit();
          collectAfter(record.bytes);
        }
      } finally {
        for (const { stream } of transcripts) stream.close();
      }
    }

    try {
      for (const files of sessions) {
        if (progress.isStopped()) break;
        await readSession(files);
      }
      await commit();
      for (const file of sessions.flat()) {
        const row = spool.files.find(file.agent.id, file.root, file.path);
        if (row) emptyLog(state, file, row.cursor.position);
      }
      return true;
    } catch (error) {
      commits.clear();
      if (error instanceof CursorMoved) return false;
      throw error;
    }
  }

  function openAll(files: readonly UnreadTranscript[]): OpenTranscript[] {
    const share = Math.min(128 * 1024, Math.floor(BUFFER_BYTES / files.length));
    const opened: OpenTranscript[] = [];
    for (const unread of files) {
      tolerateFileErrors(keyOf(unread), onTrouble, () => {
        const stream = openStream(unread, share);
        const closed = closedOf(unread.agent.id, unread);
        opened.push({ ...unread, closed, stream, next: undefined });
      });
    }
    return opened;
  }

  function stays(file: OpenTranscript, record: CapturedRecord): boolean {
    return whyStays(record, { ...file, writtenTo: () => writtenTo(file) }, file.closed) !== undefined;
  }

  /** The latest possible writing time of a record without a time. */
  function writtenTo({ root, path, modifiedAt, stored, isFollowed }: OpenTranscript): number {
    if (isFollowed) return Math.max(modifiedAt, clock);
    const latest = modifiedAt + MOMENT_MS;
    // Only a running pause covers records written after the file was looked at. A pause that began since then makes the look
    // outdated.
    if (!pauses.some((pause) => isActive(pause, clock))) return latest;
    const stat = statSync(join(root, stored?.file ?? path), { throwIfNoEntry: false });
    return Math.max(latest, stat?.mtimeMs ?? clock);
  }

  function openStream(unread: UnreadTranscript, share: number): RecordStream {
    const { size, modifiedAt, cursor } = unread;
    const from = cursor.kind === 'file' ? cursor.position : 0;
    return openRecords({
      ...unread,
      hashRecord: options.hashRecord,
      maxLineBytes,
      chunkBytes: Math.max(4096, Math.min(share, size - from + 1)),
      isAbandoned: now() - modifiedAt > ABANDONED_MS,
      settledBefore: now() - Math.min(patienceMs, SETTLE_MS),
    });
  }

  return { findWork, read };
}

/**
 * Chooses the next file of a session: the one with the earliest next record. Each file keeps its own order, so a record never
 * waits for a later one of its file. Undefined when all files are at their end.
 */
function earliestOf(transcripts: readonly OpenTranscript[]): OpenTranscript | undefined {
  let earliest: OpenTranscript | undefined;
  for (const one of transcripts) {
    if (one.next && (earliest?.next === undefined || one.next.lastTime < earliest.next.lastTime)) earliest = one;
  }
  return earliest;
}

const areSame = (one: readonly Pause[], other: readonly Pause[]) => JSON.stringify(one) === JSON.stringify(other);

const keyOf = ({ root, path }: Transcript) => join(root, path);

/** The key is built at each look at a file at rest, and `join` is too slow for that. */
const restKeyOf = ({ root, path }: Transcript) => `${root}\0${path}`;

const toKeptBack = (file: UnreadTranscript, reason: string): KeptBack => ({
  agent: file.agent.id,
  session: file.origin.session,
  path: keyOf(file),
  reason,
});

function groupBySession(files: UnreadTranscript[]): UnreadTranscript[][] {
  const groups = Map.groupBy(files, ({ agent, origin }) => `${agent.id} ${origin.session}`);
  for (const group of groups.values()) group.sort(byRank);
  return [...groups.values()].sort(byAge);
}
