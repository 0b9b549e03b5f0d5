import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Agent, Variables } from '../agents/agent.ts';
import { EXIT, Failure } from '../failure.ts';
import { ancestors, isInside } from '../paths.ts';
import type { Place } from './discover.ts';

export interface PlaceOptions {
  agents: readonly Agent[];
  variables: Variables;
  home: string;
  /** What relative paths start from. */
  folder: string;
}

/** The agents' own folders. */
export const ownPlaces = ({ agents, variables, home }: PlaceOptions): Place[] =>
  agents.flatMap((agent) => agent.roots(variables, home).map((root) => ({ agent, root, below: '' })));

/**
 * Where the transcripts of a path lie: an agent's own folder, a copy of one, part of either, or a single file. If the path
 * does not tell which of several agents wrote them, `recognize` does.
 */
export function placesOf(
  path: string,
  options: PlaceOptions,
  recognize: (absolute: string) => readonly Agent[],
): Place[] {
  // An empty text, as from `"$UNSET"` in a script, means no folder, least of all this one.
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
  return agents.map((agent) => ({ agent, root, below, isNamed: isFile }));
}

/**
 * The agents' folders, had they been copied into this one: from a home, from what their variable names, or by agent. A
 * variable may name the very folder that holds the transcripts: any folder may be such a one, so that tells nothing.
 */
function copiesIn(folder: string, agents: readonly Agent[]): Place[] {
  if (!statSync(folder).isDirectory()) return [];
  return agents.flatMap((agent) => {
    const everyVariable = (path: string) => new Proxy({}, { get: () => path }) as Variables;
    const named = join(folder, agent.id);
    const roots = [
      ...agent.roots({}, folder),
      ...agent.roots(everyVariable(folder), folder),
      ...agent.roots(everyVariable(named), named),
    ];
    const copies = roots.filter((root) => root !== folder && isInside(root, folder) && existsSync(root));
    // Of folders that lie in each other, those that hold the others.
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
