import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { Agent, JsonObject, Origin } from '../../agents/agent.ts';
import { type Store, storeOf } from '../../agents/store.ts';
import { listSessions, readSession } from '../../read/stored/records.ts';

/** Transcripts of real sessions for tests: those of the repository, and a larger collection if it is beside the repository. */
const FOLDERS = ['../../../samples', '../../../../shared/transcripts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** Folders and files of collections that have other names than the agent uses. */
const COLLECTED: { [agentId: string]: { folder: string; transcripts: RegExp } } = {
  'copilot-cli': { folder: 'copilot', transcripts: /\/(full|events|small|large|schema_drift)\.jsonl$/ },
  // The other files are output of the program.
  droid: { folder: 'droid', transcripts: /\/session_store[^/]*\.jsonl$/ },
  cursor: { folder: 'cursor', transcripts: /\.jsonl$/ },
  'gemini-cli': {
    folder: 'gemini',
    transcripts: /\/(chats\/.*|jsonl_[^/]*)\.jsonl$|\/gemini\/(?!schema_drift)[^/]*\.json$/,
  },
  opencode: { folder: 'opencode', transcripts: /\/(full\.jsonl|export\.json|opencode\.db)$/ },
  'qwen-code': { folder: 'qwen', transcripts: /\/(chats|qwen)\/[^/]*\.jsonl$/ },
};

export interface Transcript {
  path: string;
  /** The path of the file; of a copy if it is a database. */
  file: string;
  origin: Origin;
  /** The text of each record. */
  lines: string[];
}

/** The text of every record in an agent's folder of hand-written fixtures. */
export function fixturesOf(agent: Agent): string[] {
  const root = fileURLToPath(new URL(`fixtures/${agent.id}`, import.meta.url));
  return transcriptsBelow(agent, root).flatMap(({ lines }) => lines);
}

/** All transcripts of an agent; none if it has no folder. */
export function transcriptsOf(agent: Agent): Transcript[] {
  return rootsOf(agent).flatMap(({ root, among }) => transcriptsBelow(agent, root, among));
}

export function transcriptsBelow(agent: Agent, root: string, among?: RegExp): Transcript[] {
  return pathsBelow(agent, root, among).flatMap((path) => {
    try {
      return readTranscripts({ agent, root, path });
    } catch (error) {
      // Masking of private text has broken some of the collected ones.
      if (among === undefined) throw error;
      return [];
    }
  });
}

/** Reads the transcripts in a file. Throws if the file does not have the agent's format. */
export function readTranscripts({ agent, root, path }: TranscriptPath): Transcript[] {
  const store = storeOf(agent, toDatabase(path));
  return store === undefined ? [readLines(agent, root, path)] : readStored(agent, store, root, path);
}

/** A file with transcripts of an agent. A database fixture is a file with the SQL that creates it. */
export interface TranscriptPath {
  agent: Agent;
  root: string;
  path: string;
}

/** Every file with transcripts of the agent: hand-written fixtures, samples and the collection. */
export function filesOf(agent: Agent): TranscriptPath[] {
  const fixtures = { root: fileURLToPath(new URL(`fixtures/${agent.id}`, import.meta.url)), among: undefined };
  return [fixtures, ...rootsOf(agent)].flatMap(({ root, among }) =>
    pathsBelow(agent, root, among).map((path) => ({ agent, root, path })),
  );
}

/** The larger collection; undefined if it is not beside the repository. */
export const collection = (): string | undefined => FOLDERS.slice(1).find((folder) => existsSync(folder));

function rootsOf(agent: Agent): { root: string; among: RegExp | undefined }[] {
  const { folder: name = agent.id, transcripts: among } = COLLECTED[agent.id] ?? {};
  const roots = FOLDERS.map((folder) => join(folder, name));
  return roots.filter((root) => existsSync(root)).map((root) => ({ root, among }));
}

function pathsBelow(agent: Agent, root: string, among: RegExp | undefined): string[] {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => path.split(sep).join('/'));
  return paths.filter((path) => among?.test(path) ?? isFixture(agent, path)).sort();
}

/** Includes files that capture reads only if a person names them, such as exports. */
const isFixture = (agent: Agent, path: string) => path.startsWith('named/') || agent.isTranscript(toDatabase(path));

/** The name of the database that a fixture's SQL creates. */
export const toDatabase = (path: string) => path.replace(/\.sql$/, '.db');

/** Reads the sessions in a store file. */
function readStored(agent: Agent, store: Store, root: string, path: string): Transcript[] {
  const file = store.kind === 'database' ? copyDatabase(join(root, path)) : join(root, path);
  return listSessions(store, file, 'at rest', Date.now()).map(({ name }) => {
    const records = readSession(store, file, name, 0).map(({ record }) => record);
    const inFile = name === '' ? toDatabase(path) : `${toDatabase(path)}#${name}`;
    // Numbers that a double cannot represent differ only in their text.
    const lines = records.map((record) => JSON.stringify(record));
    return { path: inFile, file, origin: agent.identify({ root, path: inFile }, records[0]), lines };
  });
}

/** Copies a database, since reading it may write files beside it. */
export function copyDatabase(path: string): string {
  const copy = join(mkdtempSync(join(tmpdir(), 'fixture-')), 'copy.db');
  if (!path.endsWith('.sql')) copyFileSync(path, copy);
  else {
    const db = new DatabaseSync(copy);
    db.exec(readFileSync(path, 'utf8'));
    db.close();
  }
  return copy;
}

function readLines(agent: Agent, root: string, path: string): Transcript {
  const file = join(root, path);
  const lines = readFileSync(file, 'utf8').split('\n').filter(isRecord);
  const records = lines.slice(0, 50).map((line) => JSON.parse(line) as JsonObject);
  const first = records.find((record) => agent.namesSession?.(record, path) ?? true) ?? records[0];
  return { path, file, origin: agent.identify({ root, path }, first), lines };
}

/** The reader handles broken and joined lines, so the parser never sees them. */
function isRecord(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
