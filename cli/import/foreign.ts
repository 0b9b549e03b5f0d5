import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent, JsonObject } from '../agents/agent.ts';
import { storeOf } from '../agents/store.ts';
import { EXIT, Failure } from '../failure.ts';
import { attempt, findTranscripts, type Place } from '../read/discover.ts';
import { createLineReader } from '../read/lines.ts';
import { parseRecord } from '../read/record.ts';
import { readValues } from '../read/values.ts';

/** How far a file is looked into, in bytes. */
const HEAD_LIMIT = 1024 * 1024;
const LINES = { chunkBytes: 64 * 1024, maxLineBytes: 64 * 1024 * 1024 };

const CHECK_PATH = 'Check the path and --agent. Nothing of it was captured.';

/** Throws a `Failure` for a file that a person named, and at whose start nothing is a record as its agent writes them. */
export function refuseForeign(path: string, places: readonly Place[]): void {
  const [first] = places;
  if (first === undefined || !places.every(({ isNamed }) => isNamed) || places.some(isOwn)) return;
  throw new Failure(EXIT.usage, `${path} holds no record of ${first.agent.displayName}.`, CHECK_PATH);
}

const MOST_NAMED = 10;

/**
 * Throws a `Failure` for a folder that a person named and in which no file is called as its agent calls transcripts, or
 * none of those that are holds a record of its; `onFile` is told of the first ones that are there.
 */
export function refuseUnnamed(path: string, places: readonly Place[], onFile: (sentence: string) => void): void {
  if (places.some(({ isNamed }) => isNamed) || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const called = findTranscripts(places, () => {});
  if (called.some((found) => isOwn({ ...found, below: found.path }))) return;
  const [first, second] = places;
  const whose = first && !second ? first.agent.displayName : 'any agent';
  if (called.length > 0) throw new Failure(EXIT.usage, `${path} holds no record of ${whose}.`, CHECK_PATH);
  const anyFile = places.map((place) => ({ ...place, agent: { ...place.agent, isTranscript: () => true } }));
  const files = findTranscripts(anyFile, (trouble) => onFile(`${trouble.path} cannot be read: ${trouble.reason}.`));
  const names = [...new Set(files.map((file) => join(file.root, file.path)))];
  for (const name of names.slice(0, MOST_NAMED)) onFile(`${name} is not called as transcripts of ${whose} are.`);
  const rest = names.length > MOST_NAMED ? `, nor are ${names.length - MOST_NAMED} others` : '';
  const hint = 'A file is read whatever its name when it is named itself: `capture import --agent ID FILE`.';
  throw new Failure(EXIT.usage, `${path} holds no transcript of ${whose}${rest}.`, hint);
}

/**
 * The places without the files of other agents: those at whose start nothing is a record of the place's agent, and something
 * one of another's; `onFile` is told of each.
 */
export function leaveOutForeign(
  places: readonly Place[],
  agents: readonly Agent[],
  onFile: (sentence: string) => void,
) {
  return places.map((place): Place => {
    if (place.isNamed) return place;
    const except: string[] = [];
    for (const { root, path } of findTranscripts([place], () => {})) {
      if (isOwn({ ...place, below: path })) continue;
      const other = agents.find(
        (agent) => agent.id !== place.agent.id && agent.isTranscript(path) && isOwn({ agent, root, below: path }),
      );
      if (other === undefined) continue;
      except.push(path);
      const whose = `${place.agent.displayName}, but of ${other.displayName}`;
      onFile(`${join(root, path)} is left out: it holds no record of ${whose}.`);
    }
    return except.length > 0 ? { ...place, except } : place;
  });
}

/** Also true where only reading can tell: of databases, and of what cannot be opened. */
function isOwn({ agent, root, below }: Place): boolean {
  const absolute = join(root, below);
  const store = storeOf(agent, below);
  if (store?.kind === 'database') return true;
  let isFound: boolean | undefined;
  attempt(
    absolute,
    () => {},
    () => {
      const records = store ? inDocument(() => store.split(readFileSync(absolute, 'utf8'))) : inLines(absolute);
      isFound = records === undefined || isAnyKnown(agent, { root, path: below }, records);
    },
  );
  return isFound ?? true;
}

/** What any object becomes, and any text to Aider. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['record', 'assistant.message']);

function isAnyKnown(agent: Agent, file: { root: string; path: string }, records: Iterable<JsonObject>): boolean {
  for (const record of records) {
    const place = { origin: agent.identify(file, record), file: file.path, position: 0 };
    const events = parseRecord(agent, record, place) ?? [];
    if (events.some(({ eventType }) => !SAYS_NOTHING.has(eventType))) return true;
  }
  return false;
}

/** Undefined where it is no such document: reading it says why. */
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
    const reader = createLineReader(fd, 0, LINES);
    for (let line = reader.next(); line !== undefined; line = reader.next()) {
      for (const { record } of readValues(line)) if (record !== undefined) yield record;
      if (line.end > HEAD_LIMIT) return;
    }
  } finally {
    closeSync(fd);
  }
}
