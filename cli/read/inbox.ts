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
import { bytesOfFile } from './bytes.ts';
import { readAt } from './cursor.ts';
import { type Place, type Transcript, type Trouble, tolerateFileErrors } from './discover.ts';
import type { UnreadTranscript } from './identify.ts';

/** A file that a hook left. It gets its name once it is complete. */
interface Note {
  path: string;
  /** The name begins with the time, since process numbers repeat. */
  name: string;
  writtenMs: number;
  size: number;
}

/** About how many bytes of notes are in memory at once, because many may have gathered while no capture ran. */
const MAX_BYTES = 16 * 1024 * 1024;

/** No string can be longer than this. A larger note is reported and left in place without reading it. */
const MAX_NOTE = 256 * 1024 * 1024;

/** Events that repeat the content of the agent's transcript. From the first of them on, the hooks are the record. */
const CONTENT_EVENTS = new Set<unknown>(['beforeSubmitPrompt', 'afterAgentResponse']);

const LINE_FEED = 10;

/** For this long after a note, hooks may still report the rest of a conversation. */
const QUIET_MS = 60_000;

/**
 * How much of a transcript the agent's hooks have reported: nothing, everything, or only the tools. Undecided while the
 * conversation continues, because a hook may report a prompt at any moment.
 */
export function findHooked(
  { agent, path }: Transcript,
  state: string | undefined,
  now: number,
): 'none' | 'all' | 'tools' | 'unclear' {
  const conversation = agent.hookedAs?.(path);
  if (conversation === undefined || state === undefined) return 'none';
  const log = logOf(state, agent.id, conversation);
  if (existsSync(`${log}.complete`)) return 'all';
  const stat = statSync(`${log}.jsonl`, { throwIfNoEntry: false });
  if (stat === undefined) return 'none';
  return now - stat.mtimeMs < QUIET_MS ? 'unclear' : 'tools';
}

/** Lets the parser skip the content that the hooks reported. */
export const markHooked = (file: UnreadTranscript, hooked: ReturnType<typeof findHooked>): UnreadTranscript =>
  hooked === 'tools' ? { ...file, origin: { ...file.origin, hooked: true } } : file;

/** Takes over the notes that hooks left for the places' agents. Does nothing while another process does this. */
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
        return Math.floor(bytes / MAX_BYTES);
      });
      for (const notes of rounds.values()) sortNotes(notes, state, agent, onTrouble);
    } finally {
      lock.release();
    }
  }
}

/** The notes in the order of their times. */
function listNotes(inbox: string, onTrouble: (trouble: Trouble) => void): Note[] {
  const notes: Note[] = [];
  tolerateFileErrors(inbox, onTrouble, () => {
    for (const file of readdirSync(inbox)) {
      if (!file.endsWith('.json')) continue;
      const path = join(inbox, file);
      tolerateFileErrors(path, onTrouble, () => {
        const stat = statSync(path, { bigint: true });
        if (!stat.isFile()) throw Object.assign(new Error('it is not a file'), { code: 'ENOTSUP' });
        const size = Number(stat.size);
        if (size > MAX_NOTE) throw Object.assign(new Error('it is too large to be read'), { code: 'EFBIG' });
        notes.push({ path, name: `${stat.mtimeNs}-${file.slice(0, -5)}`, writtenMs: Number(stat.mtimeMs), size });
      });
    }
  });
  return notes.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * Adds notes to one file per conversation, `sessions/<agent>/<conversation>.jsonl` in the state folder. Makes
 * `<conversation>.complete` beside it once the file has the transcript's content. The lines are on the disk before the notes
 * are deleted. After a crash in between, a note is written again under the same name, so the parser recognises it.
 */
function sortNotes(notes: readonly Note[], state: string, agent: string, onTrouble: (trouble: Trouble) => void): void {
  const events: ReturnType<typeof readNote>[] = [];
  for (const note of notes) tolerateFileErrors(note.path, onTrouble, () => events.push(readNote(note)));
  for (const [conversation, reported] of Map.groupBy(events, (event) => event.conversation)) {
    const log = logOf(state, agent, conversation);
    tolerateFileErrors(log, onTrouble, () => {
      mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
      // This file is written first, and synced. In the other order, a crash in between would capture the transcript as well.
      if (reported.some(({ hasContent }) => hasContent))
        writeFileSync(`${log}.complete`, '', { mode: 0o600, flush: true });
      append(`${log}.jsonl`, reported.map(({ line }) => line).join(''));
      for (const { path } of reported) unlinkSync(path);
    });
  }
}

/**
 * Empties a conversation's file after it was read up to a position, because it contains unmasked text. Without a position, it
 * empties the file in any case. The empty file stays, because its time is the time of the last report of the hooks.
 */
export function emptyLog(
  state: string | undefined,
  { agent, root, path }: Transcript,
  readTo: number | undefined,
): void {
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

/** The path of a conversation's files without their endings. Any characters in the id are safe. */
const logOf = (state: string, agent: string, conversation: string): string =>
  join(
    ...[state, 'sessions', agent],
    /^[\w-]{1,128}$/.test(conversation) ? conversation : hash('sha256', conversation).slice(0, 32),
  );

/** Loses nothing: text that is not JSON, or that is nested too deeply to be written again, is kept as text. */
function readNote({ path, name, writtenMs }: Note) {
  const bytes = readFileSync(path);
  const at = new Date(writtenMs).toISOString();
  // A note that is not UTF-8 is read with one character per byte, so that capture can find secrets in it.
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
  const raw = bytes.toString(encoding);
  try {
    if (encoding === 'latin1') throw new Error('it is no text');
    const event = parseExact(raw.replace(/^\uFEFF/, '')) as JsonObject | null;
    if (typeof event !== 'object' || event === null || Array.isArray(event)) throw new Error('it is no object');
    const isId = (each: unknown): each is string => typeof each === 'string' && each !== '';
    const conversation = [event.conversation_id, event.session_id].find(isId) ?? 'unknown';
    const hasContent = CONTENT_EVENTS.has(event.hook_event_name);
    return { path, conversation, hasContent, line: `${JSON.stringify({ name, at, event })}\n` };
  } catch {
    const unreadable = { raw, encoding, reason: "a hook's input is not a JSON object" };
    const line = `${JSON.stringify({ name, at, unreadable })}\n`;
    return { path, conversation: 'unreadable', hasContent: false, line };
  }
}

function append(path: string, lines: string): void {
  const fd = openSync(path, 'a+', 0o600);
  try {
    const { size } = fstatSync(fd);
    const isTorn = size > 0 && readAt(bytesOfFile(fd), size - 1, 1)[0] !== LINE_FEED;
    // A crash cut the last line off. Its note still exists and is written again.
    if (isTorn) ftruncateSync(fd, readFileSync(path).lastIndexOf(LINE_FEED) + 1);
    writeFileSync(fd, lines, { flush: true });
  } finally {
    closeSync(fd);
  }
}
