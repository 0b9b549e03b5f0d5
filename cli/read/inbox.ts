import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../agents/agent.ts';
import { takeLock } from '../lock.ts';
import { attempt, type Place, type Trouble } from './discover.ts';
import { parseExact } from './exact.ts';
import { logFolder, logName } from './hook-logs.ts';

/** A file that a hook left, complete since it got its name. */
interface Note {
  path: string;
  /** Process numbers come again, so its time is part of what tells it from all others. */
  name: string;
  time: bigint;
  size: number;
}

/** At once, so that a long absence does not fill the memory. */
const MOST_BYTES = 16 * 1024 * 1024;

/** More than this no text can hold. Such a note is told of, left where it is, and not read again and again. */
const LARGEST_NOTE = 256 * 1024 * 1024;

/** Events that say what the agent's transcript says: from the first of them on, the hooks are the record. */
const TELLING = new Set(['beforeSubmitPrompt', 'afterAgentResponse']);

/** Those of the agents whose hooks are asked to leave what they are told. */
export function sortInboxes(state: string, places: readonly Place[], onTrouble: (trouble: Trouble) => void): void {
  const agents = new Set(places.filter(({ agent }) => agent.hookedAs !== undefined).map(({ agent }) => agent.id));
  for (const agent of agents) sortInbox(state, agent, onTrouble);
}

/**
 * Takes what an agent's hooks left in `inbox/<agent>` of the state folder over into a file per conversation, in the order
 * of their times: written and on the disk before it is deleted. After a crash in between it is written again, under the
 * same name, by which the parser knows it. Nothing is lost: what is no JSON is kept as text.
 *
 * Does nothing while another process does it. Costs one look into a folder when there is nothing.
 */
function sortInbox(state: string, agent: string, onTrouble: (trouble: Trouble) => void): void {
  const inbox = join(state, 'inbox', agent);
  if (listNotes(inbox, onTrouble).length === 0) return;
  const lock = takeLock(state, 'inbox');
  if (lock === undefined) return;
  try {
    const folder = logFolder(state, agent);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const notes of chunk(listNotes(inbox, onTrouble))) sortNotes(notes, folder, onTrouble);
  } finally {
    lock.release();
  }
}

function listNotes(inbox: string, onTrouble: (trouble: Trouble) => void): Note[] {
  const notes: Note[] = [];
  attempt(inbox, onTrouble, () => {
    for (const file of readdirSync(inbox)) {
      if (!file.endsWith('.json')) continue;
      const path = join(inbox, file);
      attempt(path, onTrouble, () => {
        const stat = statSync(path, { bigint: true });
        if (!stat.isFile()) throw Object.assign(new Error('it is no file'), { code: 'ENOTSUP' });
        const { mtimeNs: time, size } = stat;
        if (size > LARGEST_NOTE) throw Object.assign(new Error('it is too large to be read'), { code: 'EFBIG' });
        notes.push({ path, name: `${time}-${file.slice(0, -5)}`, time, size: Number(size) });
      });
    }
  });
  return notes.sort((one, other) => compare(one.time, other.time) || compare(one.name, other.name));
}

const compare = <Value extends bigint | string>(one: Value, other: Value) => (one < other ? -1 : one > other ? 1 : 0);

function* chunk(notes: readonly Note[]): Generator<Note[]> {
  let some: Note[] = [];
  let bytes = 0;
  for (const note of notes) {
    if (some.length > 0 && bytes + note.size > MOST_BYTES) {
      yield some;
      some = [];
      bytes = 0;
    }
    some.push(note);
    bytes += note.size;
  }
  if (some.length > 0) yield some;
}

function sortNotes(notes: readonly Note[], folder: string, onTrouble: (trouble: Trouble) => void): void {
  const events: (Note & ReturnType<typeof readNote>)[] = [];
  for (const note of notes) attempt(note.path, onTrouble, () => events.push({ ...note, ...readNote(note) }));
  for (const [conversation, told] of Map.groupBy(events, (event) => event.conversation)) {
    const log = join(folder, logName(conversation));
    attempt(log, onTrouble, () => {
      // First, and on the disk: in the other order a crash in between would have the transcript captured as well.
      if (told.some(({ isTelling }) => isTelling)) writeFileSync(`${log}.told`, '', { mode: 0o600, flush: true });
      append(`${log}.jsonl`, told.map(({ line }) => line).join(''));
      for (const { path } of told) unlinkSync(path);
    });
  }
}

function readNote({ path, name, time }: Note): { conversation: string; isTelling: boolean; line: string } {
  const bytes = readFileSync(path);
  const at = new Date(Number(time / 1_000_000n)).toISOString();
  const event = parseEvent(bytes);
  const line = event && toLine({ name, at, event });
  if (line === undefined) {
    // Byte for character where it is no UTF-8, so that secrets in it can be found.
    const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
    const unreadable = {
      raw: bytes.toString(encoding),
      encoding,
      reason: 'what a hook was told is not a JSON object',
    };
    return { conversation: 'unreadable', isTelling: false, line: `${JSON.stringify({ name, at, unreadable })}\n` };
  }
  const { conversation_id: id, session_id: other, hook_event_name: kind } = event ?? {};
  const conversation = [id, other].find((each) => typeof each === 'string' && each !== '') ?? 'unknown';
  return {
    conversation: conversation as string,
    isTelling: typeof kind === 'string' && TELLING.has(kind),
    line,
  };
}

/** Undefined for what is nested more deeply than it can be written: it was parsed, but must stay a text. */
function toLine(record: object): string | undefined {
  try {
    return `${JSON.stringify(record)}\n`;
  } catch {
    return undefined;
  }
}

function parseEvent(bytes: Buffer): JsonObject | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const value = parseExact(bytes.toString('utf8').replace(/^\uFEFF/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function append(path: string, lines: string): void {
  const fd = openSync(path, 'a+', 0o600);
  try {
    dropTorn(fd);
    const bytes = Buffer.from(lines);
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A line without its end was cut off by a crash: its note is still there, and is written again. */
function dropTorn(fd: number): void {
  const { size } = fstatSync(fd);
  const block = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - block.length);
    const length = readSync(fd, block, 0, end - start, start);
    const feed = block.subarray(0, length).lastIndexOf(10);
    if (feed >= 0) {
      if (start + feed + 1 < size) ftruncateSync(fd, start + feed + 1);
      return;
    }
    end = start;
  }
  if (size > 0) ftruncateSync(fd, 0);
}
