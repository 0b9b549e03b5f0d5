import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Finds texts and numbers that an agent stored below a home folder and that no event has. It only assumes that the files contain
 * JSON, and shares no code with capture's readers.
 */
export function findMissing(home: string, stored: string, events: readonly unknown[]): string[] {
  const there = new Set(events.flatMap(leavesOf));
  const files = globSync(stored, { cwd: home }).map((file) => join(home, file));
  if (files.length === 0) return [`nothing at ${stored}`];
  const ids = [...there].filter((leaf) => ID.exec(leaf)?.[0] === leaf);
  // A fork repeats its parent's records with its own id in texts. Capture stores them once, with the parent's id.
  const isRepeated = (leaf: string) => ID.test(leaf) && ids.some((id) => there.has(leaf.replace(ID, id)));
  const leaves = new Set(files.flatMap(readStored).flatMap(leavesOf));
  return [...leaves].filter((leaf) => !there.has(leaf) && !isRepeated(leaf));
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** The records in a file of an agent. */
export function readStored(file: string): unknown[] {
  if (file.endsWith('.db')) return readRows(file);
  const text = readFileSync(file, 'utf8');
  return file.endsWith('.jsonl') ? text.split('\n').filter(Boolean).map(parse) : [parse(text)];
}

/** The rows of the tables with the content of sessions. */
function readRows(file: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = ['session', 'message', 'part'].flatMap((table) => database.prepare(`SELECT * FROM ${table}`).all());
  database.close();
  return rows.map((row) => Object.values(row).map((cell) => (typeof cell === 'string' ? parse(cell) : cell)));
}

/** Parses JSON; returns the text itself if it is not JSON, such as a torn line. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf);
  if (typeof value === 'number') return [String(value)];
  // The agent may wrap a typed text in a tag.
  return typeof value === 'string' ? [value.replace(/^<user_input mode="\w*">([\s\S]*)<\/user_input>$/, '$1')] : [];
}
