import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { AgentId } from '../../contract/agent.ts';
import { shellWord } from '../../contract/quote.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import type { Agent, JsonObject } from '../agents/agent.ts';
import { storeOf } from '../agents/store.ts';
import { EXIT, Failure } from '../failure.ts';
import { openHead, plainOf } from '../read/bytes.ts';
import { findTranscripts, tolerateFileErrors } from '../read/discover.ts';
import { readFirstLines } from '../read/identify.ts';
import { parseRecord } from '../read/record.ts';

/** A file in the form in which an agent would find it. */
interface File {
  root: string;
  path: string;
}

/**
 * Finds the agents that wrote the files of a path by the records at the start of each file. The writer is the agent that
 * recognises most of their text. Throws a `Failure` that names the file if several agents recognise equally much, or if none
 * recognises anything.
 */
export function recognizeAgents(path: string, agents: readonly Agent[]): Agent[] {
  const recognized = new Set<string>();
  for (const file of findFiles(path, agents)) {
    const ids = findWriters(file, agents);
    if (ids.length > 1) throw unclear(path, file, ids);
    for (const id of ids) recognized.add(id);
  }
  if (recognized.size > 0) return agents.filter(({ id }) => recognized.has(id));
  const ids = [...new Set(agents.map(({ id }) => id))].join(', ');
  throw new Failure(
    EXIT.usage,
    `${path} contains no record that identifies its agent.`,
    `Name the agent with --agent, one of: ${ids}.`,
  );
}

/** Every file of a path that any agent would call a transcript. A file that a person named counts whatever its name. */
function findFiles(path: string, agents: readonly Agent[]): File[] {
  const name = plainOf(basename(path)) ?? basename(path);
  if (statSync(path).isFile()) return [{ root: dirname(path), path: name }];
  const found = agents.flatMap((agent) =>
    findTranscripts([{ agent, root: path, below: '', hasExports: true }], () => {}),
  );
  return [...new Map(found.map((file) => [file.path, file])).values()];
}

/** The ids of the agents that recognise most of a file. */
function findWriters(file: File, agents: readonly Agent[]): AgentId[] {
  const unnamed = agents.flatMap((agent) => {
    const size = sizeUnnamed(agent, file);
    return size === undefined ? [] : [{ id: agent.id, size }];
  });
  const least = Math.min(...unnamed.map(({ size }) => size));
  const writers = new Set(unnamed.filter(({ size }) => size === least).map(({ id }) => id));
  const isExtension = ({ id, extends: origin }: Agent) =>
    origin !== undefined && writers.has(id) && writers.has(origin);
  for (const { id } of agents.filter(isExtension)) writers.delete(id);
  return [...writers];
}

/** How many records of a file are examined. Later ones add no information. */
const MAX_RECORDS = 50;

/** How many characters of a file's first records an agent does not recognise. Undefined if none of the records is its own. */
function sizeUnnamed(agent: Agent, file: File): number | undefined {
  // Only the name of a database shows its agent.
  if (storeOf(agent, file.path)?.kind === 'database') return agent.isTranscript(file.path) ? 0 : undefined;
  return useRecords(agent, file, (records) => {
    let isOwn = false;
    let size = 0;
    let count = 0;
    for (const record of records) {
      if (count++ === MAX_RECORDS) break;
      const events = parse(agent, file, record);
      isOwn ||= isKnown(events);
      for (const { payload } of events) size += JSON.stringify(payload.rest ?? '').length;
    }
    return isOwn ? size : undefined;
  });
}

function unclear(path: string, file: File, ids: readonly string[]): Failure {
  const [first, ...others] = ids;
  const sentence = `It is not clear which agent wrote ${join(file.root, file.path)}: ${ids.join(' or ')}.`;
  const hint = `capture import --agent ${first} ${shellWord(path)}   # or --agent ${others.join(', --agent ')}`;
  return new Failure(EXIT.usage, sentence, hint);
}

/**
 * Whether a record at the start of a file is one of the agent's. Also true if only reading the whole file can show that.
 * `otherwise` counts for a file that is not such a document.
 */
export function isOf(agent: Agent, root: string, path: string, otherwise = true): boolean {
  if (storeOf(agent, path)?.kind === 'database') return true;
  const file = { root, path };
  const isAnyKnown = (records: Iterable<JsonObject>) => {
    for (const record of records) if (isKnown(parse(agent, file, record))) return true;
    return false;
  };
  return useRecords(agent, file, isAnyKnown) ?? otherwise;
}

/** Any object parses to this kind. For Aider, any text does. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['record', 'assistant.message']);

const isKnown = (events: readonly CapturedEvent[]) => events.some(({ eventType }) => !SAYS_NOTHING.has(eventType));

function parse(agent: Agent, file: File, record: JsonObject): CapturedEvent[] {
  const place = { origin: agent.identify(file, record), file: file.path, position: 0 };
  return parseRecord(agent, record, place) ?? [];
}

/**
 * Calls `use` with the records at the start of a file. Undefined if the file cannot be opened or is not such a document.
 * Reading it later reports why.
 */
function useRecords<Result>(
  agent: Agent,
  { root, path }: File,
  use: (records: Iterable<JsonObject>) => Result,
): Result | undefined {
  const absolute = join(root, path);
  const store = storeOf(agent, path);
  let result: Result | undefined;
  tolerateFileErrors(
    absolute,
    () => {},
    () => {
      if (store?.kind !== 'document') result = use(inLines(absolute));
      else {
        const records = inDocument(() => store.split(readFileSync(absolute, 'utf8')));
        result = records && use(records);
      }
    },
  );
  return result;
}

function inDocument(split: () => readonly { records: readonly JsonObject[] }[]): JsonObject[] | undefined {
  try {
    return split().flatMap(({ records }) => records);
  } catch {
    return undefined;
  }
}

function* inLines(path: string): Generator<JsonObject> {
  const from = openHead(path);
  try {
    for (const { values } of readFirstLines(from)) {
      for (const { record } of values) if (record !== undefined) yield record;
    }
  } finally {
    from.close();
  }
}
