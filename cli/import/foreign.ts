import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent, JsonObject } from '../agents/agent.ts';
import { storeOf } from '../agents/store.ts';
import { EXIT, Failure } from '../failure.ts';
import { findTranscripts, type Place, type Trouble, tolerateFileErrors } from '../read/discover.ts';
import { readFirstLines } from '../read/identify.ts';
import { parseRecord } from '../read/record.ts';

/**
 * What a person named, without the files of other agents: those at whose start nothing is a record of the place's agent, and
 * something one of another's; `onFile` is told of each. Throws a `Failure` where no file holds a record of the place's agent.
 */
export function leaveOutForeign(
  path: string,
  named: readonly Place[],
  agents: readonly Agent[],
  onFile: (sentence: string) => void,
): Place[] {
  const troubles: Trouble[] = [];
  let files = 0;
  let own = 0;
  const places = named.map((place): Place => {
    const except: string[] = [];
    for (const { root, path } of findTranscripts([place], (trouble) => troubles.push(trouble))) {
      files++;
      if (isOf(place.agent, root, path)) {
        own++;
        continue;
      }
      const others = agents.filter((agent) => agent.id !== place.agent.id && agent.isTranscript(path));
      const other = others.find((agent) => isOf(agent, root, path));
      if (other === undefined) continue;
      except.push(path);
      const whose = `${place.agent.displayName}, but of ${other.displayName}`;
      onFile(`${join(root, path)} is left out: it holds no record of ${whose}.`);
    }
    return { ...place, except };
  });
  if (own > 0) return places;
  for (const trouble of troubles) onFile(`${trouble.path} cannot be read: ${trouble.reason}.`);
  const [first, second] = named;
  const whose = first && !second ? first.agent.displayName : 'any agent';
  if (files > 0) {
    const hint = 'Check the path and --agent. Nothing of it was captured.';
    throw new Failure(EXIT.usage, `${path} holds no record of ${whose}.`, hint);
  }
  const hint = 'A file is read whatever its name when it is named itself: `capture import --agent ID FILE`.';
  throw new Failure(EXIT.usage, `${path} holds no transcript of ${whose}: no file in it is called like one.`, hint);
}

/** Also true if only reading can tell: for databases, and for files that cannot be opened. */
function isOf(agent: Agent, root: string, path: string): boolean {
  const absolute = join(root, path);
  const store = storeOf(agent, path);
  if (store?.kind === 'database') return true;
  let isFound: boolean | undefined;
  tolerateFileErrors(
    absolute,
    () => {},
    () => {
      const records = store ? inDocument(() => store.split(readFileSync(absolute, 'utf8'))) : inLines(absolute);
      isFound = records === undefined || isAnyKnown(agent, { root, path }, records);
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
    for (const { values } of readFirstLines(fd)) {
      for (const { record } of values) if (record !== undefined) yield record;
    }
  } finally {
    closeSync(fd);
  }
}
