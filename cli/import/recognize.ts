import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { shellWord } from '../../contract/quote.ts';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject } from '../agents/agent.ts';
import { storeOf } from '../agents/store.ts';
import { EXIT, Failure } from '../failure.ts';
import { findTranscripts, tolerateFileErrors } from '../read/discover.ts';
import { readFirstLines } from '../read/identify.ts';
import { parseRecord } from '../read/record.ts';

/** A file as an agent would find it. */
interface File {
  root: string;
  path: string;
}

/**
 * The agents that wrote the files of a path. The records at the start of each file tell: the agent that finds a name for most
 * of their text wrote it. Throws a `Failure` that names the file where several find equally much, and where none finds anything.
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
    `${path} holds no record that tells its agent.`,
    `Say so with --agent, one of: ${ids}.`,
  );
}

/** Each file of a path that any agent would call a transcript; one that is named itself, whatever its name. */
function findFiles(path: string, agents: readonly Agent[]): File[] {
  if (statSync(path).isFile()) return [{ root: dirname(path), path: basename(path) }];
  const found = agents.flatMap((agent) => findTranscripts([{ agent, root: path, below: '' }], () => {}));
  return [...new Map(found.map((file) => [file.path, file])).values()];
}

/** The ids of the agents that find a name for most of a file. */
function findWriters(file: File, agents: readonly Agent[]): string[] {
  const unnamed = agents.flatMap((agent) => {
    const size = sizeUnnamed(agent, file);
    return size === undefined ? [] : [{ id: agent.id, size }];
  });
  const least = Math.min(...unnamed.map(({ size }) => size));
  return [...new Set(unnamed.filter(({ size }) => size === least).map(({ id }) => id))];
}

/** What of a file is looked at: later records tell nothing new. */
const MOST_RECORDS = 50;

/** How much of a file's first records an agent finds no name for, in letters; undefined where no record is one of its. */
function sizeUnnamed(agent: Agent, file: File): number | undefined {
  // Whose a database is, only its name tells.
  if (storeOf(agent, file.path)?.kind === 'database') return agent.isTranscript(file.path) ? 0 : undefined;
  return useRecords(agent, file, (records) => {
    let isOwn = false;
    let size = 0;
    let count = 0;
    for (const record of records) {
      if (count++ === MOST_RECORDS) break;
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

/** Whether a record at the start of a file is one of the agent; also true if only reading the whole file can tell. */
export function isOf(agent: Agent, root: string, path: string): boolean {
  if (storeOf(agent, path)?.kind === 'database') return true;
  const file = { root, path };
  const isAnyKnown = (records: Iterable<JsonObject>) => {
    for (const record of records) if (isKnown(parse(agent, file, record))) return true;
    return false;
  };
  return useRecords(agent, file, isAnyKnown) ?? true;
}

/** What any object becomes, and any text to Aider. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['record', 'assistant.message']);

const isKnown = (events: readonly CapturedEvent[]) => events.some(({ eventType }) => !SAYS_NOTHING.has(eventType));

function parse(agent: Agent, file: File, record: JsonObject): CapturedEvent[] {
  const place = { origin: agent.identify(file, record), file: file.path, position: 0 };
  return parseRecord(agent, record, place) ?? [];
}

/** Uses the records at the start of a file. Undefined where it cannot be opened, or is no such document: reading it says why. */
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
  const fd = openSync(path, 'r');
  try {
    for (const { values } of readFirstLines(fd)) {
      for (const { record } of values) if (record !== undefined) yield record;
    }
  } finally {
    closeSync(fd);
  }
}
