import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * The texts and numbers that an agent has stored below a home folder and that no event has. It knows of formats no more than
 * that they hold JSON, and nothing of how capture reads them.
 */
export function findMissing(home: string, stored: string, events: readonly unknown[]): string[] {
  const there = new Set(events.flatMap(leavesOf));
  const files = globSync(stored, { cwd: home }).map((file) => join(home, file));
  if (files.length === 0) return [`nothing at ${stored}`];
  const ids = [...there].filter((leaf) => ID.exec(leaf)?.[0] === leaf);
  // A fork repeats its parent's records with its own id inside of texts: captured once, with the parent's.
  const isRepeated = (leaf: string) => ID.test(leaf) && ids.some((id) => there.has(leaf.replace(ID, id)));
  const leaves = new Set(files.flatMap(readStored).flatMap(leavesOf));
  return [...leaves].filter((leaf) => !there.has(leaf) && !isRepeated(leaf));
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

function readStored(file: string): unknown[] {
  if (file.endsWith('.db')) return readRows(file);
  const text = readFileSync(file, 'utf8');
  return file.endsWith('.jsonl') ? text.split('\n').filter(Boolean).map(parse) : [parse(text)];
}

/** The rows of the tables that hold what a session says. */
function readRows(file: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = ['session', 'message', 'part'].flatMap((table) => database.prepare(`SELECT * FROM ${table}`).all());
  database.close();
  return rows.map((row) => Object.values(row).map((cell) => (typeof cell === 'string' ? parse(cell) : cell)));
}

/** The value of JSON; text where it is none, such as a line that was torn. */
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
  // What a person typed may stand in a tag of the agent's.
  return typeof value === 'string' ? [value.replace(/^<user_input mode="\w*">([\s\S]*)<\/user_input>$/, '$1')] : [];
}
