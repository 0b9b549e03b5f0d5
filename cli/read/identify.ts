import { join } from 'node:path';
import type { Agent, JsonObject, Origin } from '../agents/agent.ts';
import { collectAfter } from '../memory.ts';
import type { Cursor, FileRow } from '../spool/files.ts';
import type { Spool } from '../spool/open.ts';
import { type Bytes, isThere, openBytes, openHead } from './bytes.ts';
import { continues, FILE_START, readAt } from './cursor.ts';
import type { Transcript } from './discover.ts';
import { createLineReader, type Line } from './lines.ts';
import { folderOf, timeOf } from './record.ts';
import type { StoredPlace } from './stored/stream.ts';
import { isFiller, readValues, type Value } from './values.ts';

/** A transcript with something to read. */
export interface UnreadTranscript extends Transcript {
  id: number | undefined;
  origin: Origin;
  startedAt: number;
  /** The position at which reading continues. */
  cursor: Cursor;
  /** The spool's cursor. */
  committed: { position: number; pass: number };
  /** Whether the whole file was read once, so that every new record was written since then. */
  isFollowed: boolean;
  /** Its place in its agent's store. */
  stored?: StoredPlace;
  /** The keys of the first records, which reveal a fork of this session. */
  firstKeys: () => string[];
}

/** How many bytes of a file are searched for its first record, its first time and its folder. */
const HEAD_LIMIT = 1024 * 1024;
const HEAD_RECORDS = 50;
const CHUNK_BYTES = 64 * 1024;

/** Whether a person now wants the earlier records that were left out when a file was read. */
export type IsWanted = (row: FileRow) => boolean;

/** Undefined if the file has nothing new. `isYoung`: the first record may not have been written yet. */
export function findUnreadFile(
  spool: Spool,
  transcript: Transcript,
  isYoung: boolean,
  isWanted: IsWanted,
): UnreadTranscript | undefined {
  const { agent, root, path } = transcript;
  const at = join(root, path);
  const firstKeys = () => readFirstKeys(transcript);
  const goOnWith = (row: FileRow, from: Bytes): UnreadTranscript | undefined => {
    const { id, origin, startedAt } = row;
    const { position, pass } = row.cursor;
    const goesOn = isContinued(row, from) && !isWanted(row);
    if (from.size === 0 || (goesOn && isBlank(from, position))) return undefined;
    const cursor = goesOn ? row.cursor : { ...FILE_START, pass: pass + 1 };
    const isFollowed = goesOn && spool.sessions.get(row.session).settled;
    return { ...transcript, id, origin, startedAt, cursor, committed: { position, pass }, isFollowed, firstKeys };
  };
  const known = spool.files.find(agent.id, root, path);
  if (known && isReadPacked(spool, transcript, known) && !isWanted(known)) return undefined;
  if (known) return using(openBytes(at), (from) => goOnWith(known, from));
  const head = using(openHead(at), (from) => readHead(transcript, from));
  collectAfter(head.bytes);
  // If the session got another name later, the file's records would belong to two sessions.
  if (!head.hasLine || ((head.origin === undefined || !head.isNamed) && isYoung)) return undefined;
  const origin = withFolder(head.origin ?? agent.identify({ root, path }, undefined), head.folder);
  const startedAt = head.time ?? Math.floor(transcript.bornAt);
  const committed = { position: 0, pass: 0 };
  const fresh = { ...transcript, id: undefined, origin, startedAt, committed, isFollowed: false, firstKeys };
  const others = spool.files
    .ofSession(agent.id, origin.session)
    .filter((row) => row.origin.subagent === origin.subagent);
  if (others.length === 0) return { ...fresh, cursor: FILE_START };
  return using(openBytes(at), (from) => {
    const same = others.filter((row) => isContinued(row, from));
    const moved = same.find(hasMoved);
    if (moved) return goOnWith(moved, from);
    // Only the part of a copy beyond the original is new.
    const [original] = same.map(({ cursor }) => cursor).sort((one, other) => other.position - one.position);
    if (original?.position === from.size) return undefined;
    return { ...fresh, cursor: original ? { ...original, pass: 0 } : FILE_START };
  });
}

function using<Result>(from: Bytes, use: (from: Bytes) => Result): Result {
  try {
    return use(from);
  } finally {
    from.close();
  }
}

const isContinued = ({ cursor }: FileRow, from: Bytes) => cursor.kind === 'file' && continues(from, cursor);

/** Unpacking takes time. A packed file keeps the time of the last change, so one that was read before it was packed is known. */
function isReadPacked(spool: Spool, { isPacked, modifiedAt }: Transcript, { session }: FileRow): boolean {
  if (!isPacked) return false;
  const known = spool.sessions.get(session);
  return known.settled && (known.modifiedAt ?? 0) >= Math.floor(modifiedAt);
}

const hasMoved = (row: FileRow) => !isThere(join(row.root, row.path));

/** A longer run of filler is treated like any other text. */
const MAX_FILLER = 64 * 1024 * 1024;

/** Whether only blanks, line feeds and NULs are left to read. A crash may leave many NULs at the end of a file. */
function isBlank(from: Bytes, position: number): boolean {
  const { size } = from;
  if (size - position > MAX_FILLER) return false;
  for (let at = position; at < size; at += CHUNK_BYTES) {
    if (!readAt(from, at, Math.min(CHUNK_BYTES, size - at)).every(isFiller)) return false;
  }
  return true;
}

interface Head {
  /** How many bytes the search read. */
  bytes: number;
  /** Whether the file has a whole line, or a whole record that waits for its line feed. */
  hasLine: boolean;
  /** The origin by the first record, or by the first one that names its session. */
  origin?: Origin;
  /** Whether that record names the session. */
  isNamed: boolean;
  time?: number | undefined;
  folder?: string | undefined;
}

/** The session's folder decides whether the session is captured at all. So a known folder is kept where the agent names none. */
export const withFolder = (origin: Origin, folder: string | undefined): Origin =>
  origin.cwd === undefined && folder !== undefined ? { ...origin, cwd: folder } : origin;

function readHead({ agent, root, path }: Transcript, from: Bytes): Head {
  const head: Head = { bytes: 0, hasLine: false, isNamed: false };
  let records = 0;
  for (const { line, values } of readFirstLines(from)) {
    head.bytes = line.end;
    head.hasLine ||= line.terminated || values.length > 0;
    for (const { record } of values) {
      if (record === undefined) continue;
      records++;
      head.folder ??= folderOf(record, agent);
      const isNamed = agent.namesSession?.(record, path) ?? true;
      if (head.origin === undefined || (isNamed && !head.isNamed)) head.origin = agent.identify({ root, path }, record);
      head.isNamed ||= isNamed;
      // This comes last: it takes the record apart, and a copy of the record may be as large as a line.
      head.time ??= timeOfRecord(agent, record);
    }
    const isKnown = head.time !== undefined && ((head.isNamed && head.folder !== undefined) || records >= HEAD_RECORDS);
    if (isKnown) break;
  }
  return head;
}

/** A fork begins with its parent's records, perhaps after some of its own. */
const FIRST_KEYS = 4;
const FIRST_RECORDS = 12;

/** The keys of the first records that have one. */
export function keysOf(agent: Agent, path: string, records: Iterable<JsonObject>): string[] {
  const keys: string[] = [];
  let count = 0;
  for (const record of records) {
    const key = agent.recordKey(record, { origin: { session: '' }, file: path, position: 0 });
    if (key !== undefined) keys.push(key);
    if (keys.length === FIRST_KEYS || ++count === FIRST_RECORDS) break;
  }
  return keys;
}

/** The keys of a file's first records, which reveal a fork of its session. */
export function readFirstKeys({ agent, root, path }: Transcript): string[] {
  return using(openHead(join(root, path)), (from) => {
    const values = readFirstLines(from).flatMap((line) => line.values);
    return keysOf(
      agent,
      path,
      values.flatMap(({ record }) => (record === undefined ? [] : [record])),
    );
  });
}

/** The keys of the records from an offset on, where they have one, and the offset at which the last whole line ends. */
export function readKeys({ agent, path }: Transcript, from: Bytes, offset: number): { keys: string[]; end: number } {
  const place = { origin: { session: '' }, file: path, position: 0 };
  const keys: string[] = [];
  let end = offset;
  for (const { line, values } of readLines(from, Number.POSITIVE_INFINITY, offset)) {
    for (const { record } of values) {
      const key = record && agent.recordKey(record, place);
      if (key !== undefined) keys.push(key);
    }
    if (line.terminated) end = line.end;
  }
  return { keys, end };
}

/** The lines from the beginning of a file, within the search limit, each with its record. */
export const readFirstLines = (from: Bytes): Generator<ReadLine> => readLines(from, HEAD_LIMIT);

interface ReadLine {
  line: Line;
  values: Value[];
}

function* readLines(from: Bytes, limit: number, offset = 0): Generator<ReadLine> {
  const reader = createLineReader(from, offset, CHUNK_BYTES);
  for (let line = reader.next(); line !== undefined; line = reader.next()) {
    yield { line, values: readValues(line) };
    collectAfter(line.bytes.length);
    if (line.end > limit) return;
  }
}

/** The parser knows where its agent writes the time. It takes the record apart. */
export function timeOfRecord(agent: Agent, record: JsonObject): number | undefined {
  try {
    return timeOf(agent.parse(record, { origin: { session: '' }, file: '', position: 0 }));
  } catch {
    return undefined;
  }
}
