import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { storeOf } from '../agents/store.ts';
import { codeOf, describe } from '../failure.ts';
import { packedAt, plainOf } from './bytes.ts';

/** A folder of an agent's transcripts, and the wanted part of it. */
export interface Place {
  agent: Agent;
  root: string;
  /** A file or folder below the root, with `/` on every system. Empty for all of it. */
  below: string;
  /** A person named this very file. It is read even if the agent would not name a transcript so. */
  isNamed?: boolean;
  /** A person named this folder, and no agent writes to it. So it may contain files that the agent has exported. */
  hasExports?: boolean;
  /** The real path of a folder that a person named. A link that leads out of it is reported and not followed. */
  within?: string;
  /** Files below the root that are left out. */
  except?: readonly string[];
  /** Called with each file that is no transcript. */
  onOther?: (path: string) => void;
  /** Called before each folder is read. `identity` distinguishes the folder from one that later took its place. */
  onFolder?: (folder: Place, identity: string) => void;
}

/** A transcript file, or one session in a file of many, as the search found it. */
export interface Transcript {
  agent: Agent;
  root: string;
  /** A packed file has the path of the transcript that it contains, so both are one transcript. */
  path: string;
  isPacked: boolean;
  size: number;
  modifiedAt: number;
  /** When the file was made, as far as the file system knows. Copies keep the older of the two times. */
  bornAt: number;
}

/** A path that could not be read, reported to the person. */
export interface Trouble {
  path: string;
  reason: string;
}

/**
 * Every transcript at the places, in the order of their paths. A transcript that several places name appears once. A file
 * that vanishes during the search counts as absent.
 */
export function findTranscripts(places: readonly Place[], onTrouble: (trouble: Trouble) => void): Transcript[] {
  const found = new Map<string, Transcript>();
  /** The folders visited at the present place. A link may lead round in a circle, or to a folder that is read anyway. */
  const visited = new Set<string>();

  function visit(place: Place, named: string, target: string, isLink = false): void {
    // The search, or a person, may name a packed file.
    const path = plainOf(named) ?? named;
    const absolute = plainOf(target) ?? target;
    if (place.except?.includes(path)) return;
    tolerateFileErrors(absolute, onTrouble, () => {
      const packed = storeOf(place.agent, path) === undefined ? packedAt(absolute) : undefined;
      // Most of the agents' folders do not exist, and an error for each of them costs four times as much.
      const stat = statSync(packed ?? absolute, { throwIfNoEntry: false });
      const isTranscript = stat?.isFile() && (place.isNamed || mayBeTranscript(place, path));
      if (isLink && (isTranscript || stat?.isDirectory()) && leadsOut(packed ?? absolute, place)) {
        onTrouble({ path: absolute, reason: 'it is a link to outside of the named folder; name its target instead' });
        return;
      }
      if (stat?.isDirectory()) visitFolder(place, path, absolute, stat);
      if (!stat || !isTranscript) return;
      const key = `${place.agent.id} ${absolute}`;
      // If a file were read twice in one round, its records without a key would be captured twice.
      if (!found.has(key)) found.set(key, toFound(place, path, stat, packed !== undefined));
    });
  }

  function visitFolder(place: Place, path: string, absolute: string, { dev, ino, birthtimeMs }: Stats): void {
    const identity = `${dev} ${ino}`;
    if (visited.has(identity)) return;
    visited.add(identity);
    place.onFolder?.({ ...place, below: path }, `${identity} ${birthtimeMs}`);
    const linked: string[] = [];
    // Calling `join` for each file takes longer than the `stat` of the file.
    const before = absolute.endsWith(sep) ? absolute : absolute + sep;
    for (const entry of readdirSync(absolute, { withFileTypes: true })) {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      const isEntered = place.agent.entersFolder?.(inner) ?? true;
      if (entry.isDirectory() ? isEntered : mayBeTranscript(place, inner))
        visit(place, inner, before + entry.name, entry.isSymbolicLink());
      else if (entry.isSymbolicLink() && isEntered) linked.push(entry.name);
      else if (entry.isFile()) place.onOther?.(inner);
    }
    // A folder's own place is visited before a link to it.
    for (const name of linked) visit(place, path === '' ? name : `${path}/${name}`, before + name, true);
  }

  for (const place of places) {
    visited.clear();
    visit(place, place.below, join(place.root, place.below));
  }
  return [...found.values()];
}

const mayBeTranscript = ({ agent, hasExports }: Place, path: string): boolean =>
  isTranscriptOf(agent, path) || (hasExports === true && agent.isExport?.(path) === true);

/** Whether a path names a transcript, which may be packed. */
export const isTranscriptOf = (agent: Agent, path: string): boolean => {
  const plain = plainOf(path);
  if (agent.isTranscript(path) || plain === undefined) return agent.isTranscript(path);
  return agent.isTranscript(plain) && storeOf(agent, plain) === undefined;
};

const leadsOut = (path: string, { within }: Place): boolean =>
  within !== undefined && relative(within, realpathSync(path)).split(sep)[0] === '..';

function toFound({ agent, root }: Place, path: string, stat: Stats, isPacked: boolean): Transcript {
  // The write-ahead log beside a database contains its latest rows until a checkpoint.
  const log = storeOf(agent, path)?.kind === 'database' && statSync(join(root, path + LOG), { throwIfNoEntry: false });
  return {
    agent,
    root,
    path,
    isPacked,
    size: stat.size + (log ? log.size : 0),
    modifiedAt: Math.max(stat.mtimeMs, log ? log.mtimeMs : 0),
    bornAt: Math.min(stat.birthtimeMs || Number.POSITIVE_INFINITY, stat.mtimeMs),
  };
}

/** Changes when the file changes. */
export const stampOf = ({ size, modifiedAt }: Pick<Transcript, 'size' | 'modifiedAt'>): string =>
  `${size} ${modifiedAt}`;

/** The transcript that a changed path belongs to, if any. */
export function transcriptAt(agent: Agent, path: string): string | undefined {
  const logged = path.endsWith(LOG) ? path.slice(0, -LOG.length) : path;
  const file = storeOf(agent, logged)?.kind === 'database' ? logged : path;
  return isTranscriptOf(agent, file) ? (plainOf(file) ?? file) : undefined;
}

const LOG = '-wal';

/** Runs work that may meet a file that is gone or not readable for this user. Neither stops the search. */
export function tolerateFileErrors(path: string, onTrouble: (trouble: Trouble) => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || !code.startsWith('E')) throw error;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') onTrouble({ path, reason: describe(error) });
  }
}
