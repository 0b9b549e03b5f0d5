import type { CapturedEvent } from '../../contract/transcript.ts';
import { type Redactor, WITHHELD } from '../redact/redactor.ts';
import type { Cursor, NewFile } from '../spool/files.ts';
import type { Counter } from '../spool/meta.ts';
import type { Spool } from '../spool/open.ts';
import type { Novelty } from '../spool/seen.ts';
import type { SessionFacts } from '../spool/sessions.ts';
import { tagOf } from '../spool/tags.ts';
import { createBatching } from './batching.ts';
import { factsOf, mergeFacts } from './facts.ts';
import type { CapturedRecord } from './record.ts';
import { serializeEvent } from './serialize.ts';
import { sealCursor } from './stream.ts';

/** A file being read. `id` and `session` are known once its first record was taken over. */
export interface FileBeingRead {
  row: Omit<NewFile, 'session'>;
  id: number | undefined;
  agentSession: string;
  /** Where the spool has its cursor. */
  committed: { offset: number; pass: number };
}

/** Another process has read the same file meanwhile: what this one knows of it is outdated. */
export class CursorMoved extends Error {}

export interface WriterOptions {
  spool: Spool;
  redactor: Pick<Redactor, 'redact'>;
  now: () => number;
  newKey: () => string;
}

const COMMIT_BYTES = 2 * 1024 * 1024;
/** Bounds for how long an upload of the same process has to wait. */
const COMMIT_MS = 100;

interface Touched {
  session: number;
  file: FileBeingRead;
  id: number;
  cursor: Cursor;
}

/**
 * Takes records over into the spool: what was seen, the events and the cursors in one commit. Between two commits nothing
 * may be awaited. After an error everything since the last commit is void.
 */
export function createWriter({ spool, redactor, now, newKey }: WriterOptions) {
  let startedAt = 0;
  let bytes = 0;
  let touched = new Map<FileBeingRead, Touched>();
  // The cursors move with the commit: until then a second reading of a file would look like its first.
  let ids = new Set<number>();
  let facts = new Map<number, SessionFacts>();
  let counts = new Map<Counter, number>();
  let settled = new Set<number>();
  let withheld = false;

  const batches = createBatching({ spool, now, newKey });
  const count = (counter: Counter, by = 1) => counts.set(counter, (counts.get(counter) ?? 0) + by);

  function touch(file: FileBeingRead, cursor: Cursor): Touched {
    const known = touched.get(file);
    if (known) return known;
    if (touched.size === 0) {
      spool.begin();
      startedAt = performance.now();
    }
    const session = spool.sessions.ensure(file.row.agent, file.agentSession);
    const id = file.id ?? spool.files.insert({ ...file.row, session });
    if (id === undefined || ids.has(id)) throw new CursorMoved();
    if (file.id !== undefined) checkPosition(file.id, file.committed);
    if (file.id !== undefined) spool.files.move(id, file.row.root, file.row.path);
    const entry = { session, file, id, cursor };
    touched.set(file, entry);
    ids.add(id);
    return entry;
  }

  function checkPosition(id: number, { offset, pass }: FileBeingRead['committed']): void {
    const position = spool.files.position(id);
    if (position?.offset !== offset || position.pass !== pass) throw new CursorMoved();
  }

  /** The record's events, but for those that the service has although the spool that knew of them is gone. */
  function addEvents(session: number, { row, agentSession }: FileBeingRead, record: CapturedRecord, number = 0): void {
    const { subagent, agentVersion } = row.origin;
    const tag = tagOf({ ...record, agent: row.agent, session: agentSession, subagent, number });
    const known = spool.sent.countSent(tag);
    let left = known;
    const of = { session: `${row.agent} ${agentSession}`, folder: record.folder };
    for (const event of redactor.redact(record.events, of)) {
      for (const { json, time } of toTexts(session, event, agentVersion)) {
        if (left > 0) left--;
        else bytes += batches.add(session, json, time, tag);
      }
    }
    spool.sent.takeSent(tag, known - left);
    if (known > left) count('eventsRecognised', known - left);
  }

  function toTexts(session: number, masked: CapturedEvent, agentVersion: string | undefined) {
    const event = encodeRaw(masked);
    for (const [rule, times] of Object.entries(event.payload.redactions ?? {})) {
      if (rule === WITHHELD) withheld = true;
      else count('secretsMasked', times);
    }
    const learned = factsOf(event);
    // The file's version is in the event as well, and masked there.
    const version = agentVersion && event.payload.source.agentVersion;
    facts.set(session, mergeFacts(facts.get(session) ?? { agentVersion: version }, learned));
    return serializeEvent(event).map((json) => ({ json, time: learned.firstAt }));
  }

  /** For agents that tell their folder to the model alone. */
  function learnFolder(session: number, { row, agentSession }: FileBeingRead, cwd: string): void {
    const known = facts.get(session);
    if (known?.cwd !== undefined || row.origin.subagent !== undefined) return;
    const source = { agent: row.agent, session: row.origin.session, file: row.path, position: 0 };
    const event: CapturedEvent = { eventType: 'session.meta', payload: { source, cwd } };
    const masked = redactor.redact([event], { session: `${row.agent} ${agentSession}` });
    for (const each of masked) facts.set(session, mergeFacts(known ?? {}, factsOf(each)));
  }

  function forget(): void {
    bytes = 0;
    touched = new Map();
    ids = new Set();
    batches.forget();
    facts = new Map();
    counts = new Map();
    settled = new Set();
  }

  return {
    add(file: FileBeingRead, record: CapturedRecord): void {
      bytes += record.bytes;
      const entry = touch(file, record.cursor);
      entry.cursor = record.cursor;
      const { meetRecord, meetLine } = spool.seen;
      const number = record.keyed ? 0 : meetLine(entry.id, record.cursor.pass, record.identity);
      const ofText: Novelty = number === undefined ? 'repeated' : 'new';
      const novelty = record.keyed ? meetRecord(record.identity, entry.session) : ofText;
      if (novelty !== 'new') {
        count(novelty === 'repeated' ? 'recordsRepeated' : 'recordsReplayed');
        return;
      }
      count(record.tooLong ? 'linesTooLong' : record.unreadable ? 'recordsUnreadable' : 'recordsCaptured');
      withheld = false;
      addEvents(entry.session, file, record, number);
      if (record.folder !== undefined) learnFolder(entry.session, file, record.folder);
      if (withheld) count('recordsWithheld');
    },
    /** All of the file's session is read. */
    settle(file: FileBeingRead): void {
      const session = touched.get(file)?.session;
      if (session !== undefined) settled.add(session);
    },
    /** Whether it is time to commit. */
    isDue: () => touched.size > 0 && (bytes >= COMMIT_BYTES || performance.now() - startedAt >= COMMIT_MS),
    commit(): void {
      if (touched.size === 0) return;
      count('eventsSpooled', batches.seal());
      for (const [session, learned] of facts) spool.sessions.learn(session, learned);
      for (const session of settled) spool.sessions.settle(session);
      for (const [counter, by] of counts) spool.count(counter, by);
      for (const { id, cursor } of touched.values()) spool.files.advance(id, sealCursor(cursor));
      spool.commit();
      for (const { file, id, cursor } of touched.values()) {
        file.id = id;
        file.committed = { offset: cursor.offset, pass: cursor.pass };
      }
      forget();
    },
    rollback(): void {
      spool.rollback();
      forget();
    },
  };
}

/** Bytes that are no UTF-8 travel as base64 from here on. */
export function encodeRaw(event: CapturedEvent): CapturedEvent {
  if (event.eventType !== 'unreadable' || event.payload.encoding !== 'base64') return event;
  const raw = Buffer.from(event.payload.raw, 'latin1').toString('base64');
  return { ...event, payload: { ...event.payload, raw } };
}
