import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Agent, JsonObject, Origin } from './agent.ts';

/** Transcripts of real sessions, for tests: those of the repository, and a larger collection where it lies beside it. */
const FOLDERS = ['../../samples', '../../../shared/transcripts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** Where collections keep what is not under the agent's id, or in other places than the agent does. */
const COLLECTED: { [agentId: string]: { folder: string; transcripts: RegExp } } = {
  'copilot-cli': { folder: 'copilot', transcripts: /\/(full|events|small|large|schema_drift)\.jsonl$/ },
  // The others are what the program prints.
  droid: { folder: 'droid', transcripts: /\/session_store[^/]*\.jsonl$/ },
  'gemini-cli': { folder: 'gemini', transcripts: /\/(chats\/.*|jsonl_[^/]*)\.jsonl$/ },
  'qwen-code': { folder: 'qwen', transcripts: /\/(chats|qwen)\/[^/]*\.jsonl$/ },
};

export interface Transcript {
  path: string;
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
  const { folder: name = agent.id, transcripts } = COLLECTED[agent.id] ?? {};
  const roots = FOLDERS.map((folder) => join(folder, name)).filter((root) => existsSync(root));
  return roots.flatMap((root) => transcriptsBelow(agent, root, transcripts));
}

export function transcriptsBelow(agent: Agent, root: string, among?: RegExp): Transcript[] {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => path.split(sep).join('/'));
  const transcripts = paths.filter((path) => among?.test(path) ?? agent.isTranscript(path)).sort();
  return transcripts.map((path) => readTranscript(agent, root, path));
}

function readTranscript(agent: Agent, root: string, path: string): Transcript {
  const lines = readFileSync(join(root, path), 'utf8').split('\n').filter(isRecord);
  const first = lines[0] === undefined ? undefined : (JSON.parse(lines[0]) as JsonObject);
  return { path, origin: agent.identify({ root, path }, first), lines };
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
