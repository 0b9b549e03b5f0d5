import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { Agent, JsonObject, Origin } from '../../agents/agent.ts';
import { type Store, storeOf } from '../../agents/store.ts';
import { listSessions, readSession } from '../../read/stored/records.ts';

/** Transcripts of real sessions, for tests: the repository's, and a larger collection if it is beside it. */
const FOLDERS = ['../../../samples', '../../../../shared/transcripts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** Where collections keep what is not under the agent's id, or in other places than the agent does. */
const COLLECTED: { [agentId: string]: { folder: string; transcripts: RegExp } } = {
  'copilot-cli': { folder: 'copilot', transcripts: /\/(full|events|small|large|schema_drift)\.jsonl$/ },
  // The others are what the program prints.
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
  /** Where the file is; of a database, a copy. */
  file: string;
  origin: Origin;
  /** The text of each record. */
  lines: string[];
}

/** The text of every record in the hand-written folder of an agent. */
export function fixturesOf(agent: Agent): string[] {
  const root = fileURLToPath(new URL(`fixtures/${agent.id}`, import.meta.url));
  return transcriptsBelow(agent, root).flatMap(({ lines }) => lines);
}

/** All transcripts of an agent; none where there is no folder with any. */
export function transcriptsOf(agent: Agent): Transcript[] {
  return rootsOf(agent).flatMap(({ root, among }) => transcriptsBelow(agent, root, among));
}

export function transcriptsBelow(agent: Agent, root: string, among?: RegExp): Transcript[] {
  return pathsBelow(agent, root, among).flatMap((path) => {
    try {
      return readTranscripts({ agent, root, path });
    } catch (error) {
      // Masking private text broke some of the collected ones.
      if (among === undefined) throw error;
      return [];
    }
  });
}

/** What a file holds. Throws where it is not what its agent writes. */
export function readTranscripts({ agent, root, path }: TranscriptPath): Transcript[] {
  const store = storeOf(agent, toDatabase(path));
  return store === undefined ? [readLines(agent, root, path)] : readStored(agent, store, root, path);
}

/** A file that holds transcripts of an agent. A database among fixtures is the text that makes it. */
export interface TranscriptPath {
  agent: Agent;
  root: string;
  path: string;
}

/** Every file that is a transcript of the agent, or holds several: hand-written ones, samples and the collection. */
export function filesOf(agent: Agent): TranscriptPath[] {
  const fixtures = { root: fileURLToPath(new URL(`fixtures/${agent.id}`, import.meta.url)), among: undefined };
  return [fixtures, ...rootsOf(agent)].flatMap(({ root, among }) =>
    pathsBelow(agent, root, among).map((path) => ({ agent, root, path })),
  );
}

/** The larger collection; undefined where it does not lie beside the repository. */
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

/** Also what is read only where a person names it, such as an export. */
const isFixture = (agent: Agent, path: string) => path.startsWith('named/') || agent.isTranscript(toDatabase(path));

/** A database among fixtures is the text that makes it. */
export const toDatabase = (path: string) => path.replace(/\.sql$/, '.db');

/** The sessions in a file of a store. */
function readStored(agent: Agent, store: Store, root: string, path: string): Transcript[] {
  const file = store.kind === 'database' ? copyDatabase(join(root, path)) : join(root, path);
  return listSessions(store, file, 'at rest', Date.now()).map(({ name }) => {
    const records = readSession(store, file, name, 0).map(({ record }) => record);
    const inFile = name === '' ? toDatabase(path) : `${toDatabase(path)}#${name}`;
    // Numbers that a double cannot hold are told apart by their text alone.
    const lines = records.map((record) => JSON.stringify(record));
    return { path: inFile, file, origin: agent.identify({ root, path: inFile }, records[0]), lines };
  });
}

/** Reading a database may write beside it. */
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

/** Broken and joined lines are the reader's concern, not the parser's. */
function isRecord(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
