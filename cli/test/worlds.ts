import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { AGENTS } from '../agents/all.ts';
import { storeOf } from '../agents/store.ts';
import type { Place } from '../read/discover.ts';
import { filesOf, readTranscripts, type Transcript, type TranscriptPath, toDatabase } from './agents/corpus.ts';
import type { Captured } from './by-file.ts';

/** A real or hand-written file of an agent, to be copied elsewhere. */
export interface CorpusFile {
  agent: Agent;
  kind: 'lines' | 'document' | 'database';
  /** Its current path; `path` is its path in the agent's folder. */
  from: string;
  path: string;
  transcripts: Transcript[];
}

/** Every readable file of every agent. */
export const corpusFiles = (): CorpusFile[] => AGENTS.flatMap((agent) => filesOf(agent).flatMap(toCorpusFile));

function toCorpusFile(file: TranscriptPath): CorpusFile[] {
  const path = toDatabase(file.path);
  const kind = storeOf(file.agent, path)?.kind ?? 'lines';
  const transcripts = readIfWhole(file);
  return transcripts ? [{ agent: file.agent, kind, from: join(file.root, file.path), path, transcripts }] : [];
}

const SAMPLE_BYTES = 400 * 1024;
const SAMPLE_FILES = 4;

const isWritten = ({ root }: TranscriptPath) => root.includes('fixtures');

/** The hand-written files of each agent. */
export const writtenFiles = (): CorpusFile[] =>
  AGENTS.flatMap((agent) => filesOf(agent).filter(isWritten).flatMap(toCorpusFile));

/** The hand-written files of each agent and some of the smaller real ones, each of another session. */
export function sampleFiles(): CorpusFile[] {
  const files = AGENTS.flatMap((agent) => {
    const small = filesOf(agent).filter(({ root, path }) => statSync(join(root, path)).size <= SAMPLE_BYTES);
    return [...small.filter(isWritten), ...small.filter((file) => !isWritten(file)).slice(-SAMPLE_FILES)];
  });
  return divide(files.flatMap(toCorpusFile))[0] ?? [];
}

/** Returns undefined for a broken file; `corpus-claims.test.ts` reports those. */
export function readIfWhole(file: TranscriptPath): Transcript[] | undefined {
  try {
    return readTranscripts(file);
  } catch {
    return undefined;
  }
}

/**
 * Divides files into groups without a common session or record key. Capture would read only the first of several copies or
 * snapshots in a group.
 */
export function divide(files: readonly CorpusFile[]): CorpusFile[][] {
  const worlds: { files: CorpusFile[]; taken: Set<string> }[] = [];
  for (const file of files) {
    const names = namesIn(file);
    const fitting = worlds.find(({ taken }) => !names.some((name) => taken.has(name)));
    const world = fitting ?? { files: [], taken: new Set<string>() };
    if (fitting === undefined) worlds.push(world);
    world.files.push(file);
    for (const name of names) world.taken.add(name);
  }
  return worlds.map(({ files }) => files);
}

function namesIn({ agent, transcripts }: CorpusFile): string[] {
  return transcripts.flatMap(({ path, origin, lines }) => [
    `${agent.id} session ${origin.session} ${origin.subagent}`,
    ...lines.flatMap((line, position) => {
      const key = agent.recordKey(JSON.parse(line), { origin, file: path, position });
      return key === undefined ? [] : [`${agent.id} key ${key}`];
    }),
  ]);
}

/** Places a file in its own folder, so that it keeps its path. It is read by name, even if the agent would skip it. */
export const placeOf = ({ agent, path }: CorpusFile, folder: string, index: number): Place => ({
  agent,
  root: join(folder, String(index)),
  below: path,
  isNamed: true,
});

/** The events of all sessions in a file, from the result of `eventsByFile`. */
export const eventsOf = ({ agent, transcripts }: CorpusFile, captured: ReadonlyMap<string, Captured[]>): Captured[] =>
  transcripts.flatMap(({ path, origin }) => captured.get(`${agent.id} ${origin.session} ${path}`) ?? []);
