import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject } from '../agents/agent.ts';
import { parseExact } from '../exact.ts';
import { takeLock } from '../lock.ts';
import { readAt } from './cursor.ts';
import { type Found, type Place, type Trouble, tolerateFileErrors } from './discover.ts';
import type { Unread } from './identify.ts';

/** A file that a hook left, complete since it got its name. */
interface Note {
  path: string;
  /** Begins with its time, since process numbers repeat. */
  name: string;
  writtenMs: number;
  size: number;
}

/** At once, so that a long absence does not fill the memory. */
const MOST_BYTES = 16 * 1024 * 1024;

/** No text can hold more than this. Such a note is reported, left in place, and not read again and again. */
const LARGEST_NOTE = 256 * 1024 * 1024;

/** Events that say what the agent's transcript says: from the first of them on, the hooks are the record. */
const TELLING = new Set<unknown>(['beforeSubmitPrompt', 'afterAgentResponse']);

const LINE_FEED = 10;

/** While hooks may still tell the rest of a conversation. */
const QUIET_MS = 60_000;

/**
 * How much of a transcript the agent's hooks have told: none of it, all, the tools alone, or it cannot be said yet, since
 * the conversation goes on and a prompt may be told at any moment.
 */
export function findTold(
  { agent, path }: Found,
  state: string | undefined,
  now: number,
): 'none' | 'all' | 'tools' | 'unclear' {
  const conversation = agent.hookedAs?.(path);
  if (conversation === undefined || state === undefined) return 'none';
  const log = logOf(state, agent.id, conversation);
  if (existsSync(`${log}.told`)) return 'all';
  const stat = statSync(`${log}.jsonl`, { throwIfNoEntry: false });
  if (stat === undefined) return 'none';
  return now - stat.mtimeMs < QUIET_MS ? 'unclear' : 'tools';
}

/** The parser leaves to the hooks what they told. */
export const markTold = (file: Unread, told: ReturnType<typeof findTold>): Unread =>
  told === 'tools' ? { ...file, origin: { ...file.origin, hooked: true } } : file;

/** Takes over what the hooks of the places' agents left. Nothing is done while another process does it. */
export function sortInboxes(state: string, places: readonly Place[], onTrouble: (trouble: Trouble) => void): void {
  const agents = new Set(places.filter(({ agent }) => agent.hookedAs !== undefined).map(({ agent }) => agent.id));
  for (const agent of agents) {
    const list = () => listNotes(join(state, 'inbox', agent), onTrouble);
    if (list().length === 0) continue;
    const lock = takeLock(state, 'inbox');
    if (lock === undefined) return;
    try {
      let bytes = 0;
      const rounds = Map.groupBy(list(), ({ size }) => {
        bytes += size;
        return Math.floor(bytes / MOST_BYTES);
      });
      for (const notes of rounds.values()) sortNotes(notes, state, agent, onTrouble);
    } finally {
      lock.release();
    }
  }
}

/** In the order of their times. */
function listNotes(inbox: string, onTrouble: (trouble: Trouble) => void): Note[] {
  const notes: Note[] = [];
  tolerateFileErrors(inbox, onTrouble, () => {
    for (const file of readdirSync(inbox)) {
      if (!file.endsWith('.json')) continue;
      const path = join(inbox, file);
      tolerateFileErrors(path, onTrouble, () => {
        const stat = statSync(path, { bigint: true });
        if (!stat.isFile()) throw Object.assign(new Error('it is no file'), { code: 'ENOTSUP' });
        const size = Number(stat.size);
        if (size > LARGEST_NOTE) throw Object.assign(new Error('it is too large to be read'), { code: 'EFBIG' });
        notes.push({ path, name: `${stat.mtimeNs}-${file.slice(0, -5)}`, writtenMs: Number(stat.mtimeMs), size });
      });
    }
  });
  return notes.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * Adds notes to a file per conversation, `sessions/<agent>/<conversation>.jsonl` in the state folder, and makes
 * `<conversation>.told` beside it once that has the transcript's content. They are on the disk before the notes are
 * deleted. A crash in between writes a note again, under the same name, so the parser recognizes it.
 */
function sortNotes(notes: readonly Note[], state: string, agent: string, onTrouble: (trouble: Trouble) => void): void {
  const events: ReturnType<typeof readNote>[] = [];
  for (const note of notes) tolerateFileErrors(note.path, onTrouble, () => events.push(readNote(note)));
  for (const [conversation, told] of Map.groupBy(events, (event) => event.conversation)) {
    const log = logOf(state, agent, conversation);
    tolerateFileErrors(log, onTrouble, () => {
      mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
      // First, and on the disk: in the other order a crash in between would have the transcript captured as well.
      if (told.some(({ isTelling }) => isTelling)) writeFileSync(`${log}.told`, '', { mode: 0o600, flush: true });
      append(`${log}.jsonl`, told.map(({ line }) => line).join(''));
      for (const { path } of told) unlinkSync(path);
    });
  }
}

/**
 * Empties a conversation's file once it was read up to a position, or whatever it holds where that is left out: it is there
 * unmasked. The file itself stays, since it says when the hooks told something last.
 */
export function emptyLog(state: string | undefined, { agent, root, path }: Found, readTo: number | undefined): void {
  if (state === undefined || path.includes('/') || root !== join(state, 'sessions', agent.id)) return;
  const lock = takeLock(state, 'inbox');
  if (lock === undefined) return;
  try {
    const { size, atime, mtime } = statSync(join(root, path), { throwIfNoEntry: false }) ?? {};
    if (!size || atime === undefined || mtime === undefined || (readTo !== undefined && readTo !== size)) return;
    truncateSync(join(root, path), 0);
    utimesSync(join(root, path), atime, mtime);
  } finally {
    lock.release();
  }
}

/** The path of a conversation's files without their endings, whatever its id looks like. */
const logOf = (state: string, agent: string, conversation: string): string =>
  join(
    ...[state, 'sessions', agent],
    /^[\w-]{1,128}$/.test(conversation) ? conversation : hash('sha256', conversation).slice(0, 32),
  );

/** Nothing is lost: what is no JSON, or nested more deeply than it can be written, is kept as text. */
function readNote({ path, name, writtenMs }: Note) {
  const bytes = readFileSync(path);
  const at = new Date(writtenMs).toISOString();
  // Byte for character where it is no UTF-8, so that secrets in it can be found.
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
  const raw = bytes.toString(encoding);
  try {
    if (encoding === 'latin1') throw new Error('it is no text');
    const event = parseExact(raw.replace(/^\uFEFF/, '')) as JsonObject | null;
    if (typeof event !== 'object' || event === null || Array.isArray(event)) throw new Error('it is no object');
    const isId = (each: unknown): each is string => typeof each === 'string' && each !== '';
    const conversation = [event.conversation_id, event.session_id].find(isId) ?? 'unknown';
    const isTelling = TELLING.has(event.hook_event_name);
    return { path, conversation, isTelling, line: `${JSON.stringify({ name, at, event })}\n` };
  } catch {
    const unreadable = { raw, encoding, reason: "a hook's input is not a JSON object" };
    const line = `${JSON.stringify({ name, at, unreadable })}\n`;
    return { path, conversation: 'unreadable', isTelling: false, line };
  }
}

function append(path: string, lines: string): void {
  const fd = openSync(path, 'a+', 0o600);
  try {
    const { size } = fstatSync(fd);
    const isTorn = size > 0 && readAt(fd, size - 1, 1)[0] !== LINE_FEED;
    // Cut off by a crash: its note is still there, and is written again.
    if (isTorn) ftruncateSync(fd, readFileSync(path).lastIndexOf(LINE_FEED) + 1);
    writeFileSync(fd, lines, { flush: true });
  } finally {
    closeSync(fd);
  }
}
