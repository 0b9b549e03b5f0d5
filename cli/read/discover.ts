import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { storeOf } from '../agents/store.ts';
import { codeOf, describe } from '../failure.ts';

/** A folder of an agent's transcripts, and the wanted part of it. */
export interface Place {
  agent: Agent;
  root: string;
  /** A file or folder below the root, `/` on every system; empty for all of it. */
  below: string;
  /** A person named this very file: it is read whether or not the agent would call a transcript so. */
  isNamed?: boolean;
  /** The real path of a folder that a person named: a link that leads out of it is reported, and not followed. */
  within?: string;
  /** Files below the root that are left out. */
  except?: readonly string[];
  /** Called before each folder is read; `identity` tells it from one that took its place. */
  onFolder?: (folder: Place, identity: string) => void;
}

/** A transcript file as it was found. */
export interface Found {
  agent: Agent;
  root: string;
  path: string;
  size: number;
  modifiedAt: number;
  /** When it was made, as far as the file system knows: copies keep the older of the two times. */
  bornAt: number;
}

/** Something that could not be read, told to the person. */
export interface Trouble {
  path: string;
  reason: string;
}

/**
 * Every transcript at the places, each once however often it is named, in the order of their paths. A file that vanishes while
 * looking was not there.
 */
export function findTranscripts(places: readonly Place[], onTrouble: (trouble: Trouble) => void): Found[] {
  const found = new Map<string, Found>();
  /** Folders of the present place: a link may lead round in a circle, or to a folder that is read anyway. */
  const visited = new Set<string>();

  function visit(place: Place, path: string, absolute: string, isLink = false): void {
    if (place.except?.includes(path)) return;
    tolerateFileErrors(absolute, onTrouble, () => {
      // Most of the agents' folders do not exist, and an error for each of them costs four times as much.
      const stat = statSync(absolute, { throwIfNoEntry: false });
      const isTranscript = stat?.isFile() && (place.isNamed || place.agent.isTranscript(path));
      if (isLink && (isTranscript || stat?.isDirectory()) && leadsOut(absolute, place)) {
        onTrouble({ path: absolute, reason: 'it is a link out of the folder that was named; name what it leads to' });
        return;
      }
      if (stat?.isDirectory()) visitFolder(place, path, absolute, stat);
      if (!stat || !isTranscript) return;
      const key = `${place.agent.id} ${absolute}`;
      // Read twice in one round, the records that have no key of their own would be captured twice.
      if (!found.has(key)) found.set(key, toFound(place, path, stat));
    });
  }

  function visitFolder(place: Place, path: string, absolute: string, { dev, ino, birthtimeMs }: Stats): void {
    const identity = `${dev} ${ino}`;
    if (visited.has(identity)) return;
    visited.add(identity);
    place.onFolder?.({ ...place, below: path }, `${identity} ${birthtimeMs}`);
    const linked: string[] = [];
    // `join` for each file takes longer than looking at it.
    const before = absolute.endsWith(sep) ? absolute : absolute + sep;
    for (const entry of readdirSync(absolute, { withFileTypes: true })) {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      const isEntered = place.agent.entersFolder?.(inner) ?? true;
      if (entry.isDirectory() ? isEntered : place.agent.isTranscript(inner))
        visit(place, inner, before + entry.name, entry.isSymbolicLink());
      else if (entry.isSymbolicLink() && isEntered) linked.push(entry.name);
    }
    // A folder's own place comes before a link to it.
    for (const name of linked) visit(place, path === '' ? name : `${path}/${name}`, before + name, true);
  }

  for (const place of places) {
    visited.clear();
    visit(place, place.below, join(place.root, place.below));
  }
  return [...found.values()];
}

const leadsOut = (path: string, { within }: Place): boolean =>
  within !== undefined && relative(within, realpathSync(path)).split(sep)[0] === '..';

function toFound({ agent, root }: Place, path: string, stat: Stats): Found {
  // A file beside a database holds its latest rows until it is tidied up.
  const log = storeOf(agent, path)?.kind === 'database' && statSync(join(root, path + LOG), { throwIfNoEntry: false });
  return {
    agent,
    root,
    path,
    size: stat.size + (log ? log.size : 0),
    modifiedAt: Math.max(stat.mtimeMs, log ? log.mtimeMs : 0),
    bornAt: Math.min(stat.birthtimeMs || Number.POSITIVE_INFINITY, stat.mtimeMs),
  };
}

/** What tells whether a file has changed. */
export const stampOf = ({ size, modifiedAt }: Pick<Found, 'size' | 'modifiedAt'>): string => `${size} ${modifiedAt}`;

/** The transcript that a changed path belongs to, if any. */
export function transcriptAt(agent: Agent, path: string): string | undefined {
  const logged = path.endsWith(LOG) ? path.slice(0, -LOG.length) : path;
  const file = storeOf(agent, logged)?.kind === 'database' ? logged : path;
  return agent.isTranscript(file) ? file : undefined;
}

const LOG = '-wal';

/** Runs what may meet a file that is gone or closed to this user: that is no reason to stop. */
export function tolerateFileErrors(path: string, onTrouble: (trouble: Trouble) => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || !code.startsWith('E')) throw error;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') onTrouble({ path, reason: describe(error) });
  }
}
