import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Agent, Variables } from '../agents/agent.ts';
import { everyVariable } from '../agents/more-folders.ts';
import { EXIT, Failure } from '../failure.ts';
import { ancestors, isInside } from '../paths.ts';
import type { Place } from './discover.ts';

export interface PlaceOptions {
  agents: readonly Agent[];
  variables: Variables;
  home: string;
  /** Relative paths start from this folder. */
  folder: string;
}

/** The agents' own folders. */
export const ownPlaces = ({ agents, variables, home }: PlaceOptions): Place[] =>
  agents.flatMap((agent) => agent.roots(variables, home).map((root) => ({ agent, root, below: '' })));

/**
 * The places of the transcripts at a path. The path may be an agent's own folder, a copy of one, part of either, or a single
 * file. If the path fits several agents, `recognize` decides by the content.
 */
export function placesOf(
  path: string,
  options: PlaceOptions,
  recognize: (absolute: string) => readonly Agent[],
): Place[] {
  // An empty text, for instance `"$UNSET"` in a script, means no folder. It must not mean this folder.
  if (path === '') throw new Failure(EXIT.usage, 'A path is empty.', 'Check it; `.` is this folder.');
  const absolute = resolve(options.folder, path);
  if (!existsSync(absolute)) throw new Failure(EXIT.usage, `There is no ${absolute}.`, 'Check the path.');
  // Several agents may share an id, such as a program and its predecessor.
  const ids = new Set(options.agents.map(({ id }) => id));
  const isSure = ids.size === 1;
  const isNamed = isSure && statSync(absolute).isFile();
  const own = within(absolute, ownPlaces(options));
  if (own.length > 0) return own.map((place) => ({ ...place, isNamed }));
  for (const folder of ancestors(absolute)) {
    const copies = within(absolute, copiesIn(folder, options.agents));
    if (copies.length > 0) return copies.map((place) => ({ ...place, isNamed }));
  }
  const known = isSure ? options.agents : recognize(absolute);
  const isFile = statSync(absolute).isFile();
  const root = isFile ? dirname(absolute) : absolute;
  const below = slashes(relative(root, absolute));
  const fitting = known.filter((agent) => !isFile || agent.isTranscript(below));
  const agents = fitting.length > 0 ? fitting : known.slice(0, 1);
  return agents.map((agent) => ({ agent, root, below, isNamed: isFile, hasExports: !isFile }));
}

/**
 * Finds copies of the agents' folders in this folder: a copied home folder, a copy of the folder that their variable names,
 * or a copy per agent. A variable may name the very folder that contains the transcripts. Any folder might be that one, so such
 * a path proves nothing.
 */
function copiesIn(folder: string, agents: readonly Agent[]): Place[] {
  if (!statSync(folder).isDirectory()) return [];
  return agents.flatMap((agent) => {
    const named = join(folder, agent.id);
    const roots = [
      ...agent.roots({}, folder),
      ...agent.roots(everyVariable(folder), folder),
      ...agent.roots(everyVariable(named), named),
    ];
    const copies = roots.filter((root) => root !== folder && isInside(root, folder) && existsSync(root));
    // Of nested folders, only the outermost ones count.
    const outermost = copies.filter((root) => !copies.some((other) => other !== root && isInside(root, other)));
    return [...new Set(outermost)].map((root) => ({ agent, root, below: '' }));
  });
}

/** The places inside a path, and the path itself where it is inside a place. */
function within(path: string, places: readonly Place[]): Place[] {
  return places.flatMap((place) => {
    if (isInside(place.root, path)) return existsSync(place.root) ? [place] : [];
    return isInside(path, place.root) ? [{ ...place, below: slashes(relative(place.root, path)) }] : [];
  });
}

const slashes = (path: string) => path.split(sep).join('/');
