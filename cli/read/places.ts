import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Agent, Variables } from '../agents/agent.ts';
import { EXIT, Failure } from '../failure.ts';
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

/** Where the transcripts of a path lie: an agent's own folder, a copy of one, part of either, or a single file. */
export function placesOf(path: string, options: PlaceOptions): Place[] {
  const absolute = resolve(options.folder, path);
  if (!existsSync(absolute)) throw new Failure(EXIT.usage, `There is no ${absolute}.`, 'Check the path.');
  const [only, ...others] = options.agents;
  const isSure = only !== undefined && others.length === 0;
  const isNamed = isSure && statSync(absolute).isFile();
  const own = within(absolute, ownPlaces(options));
  if (own.length > 0) return own.map((place) => ({ ...place, isNamed }));
  for (const folder of [absolute, ...ancestors(absolute)]) {
    const copies = within(absolute, copiesIn(folder, options.agents));
    if (copies.length > 0) return copies.map((place) => ({ ...place, isNamed }));
  }
  if (isSure) {
    const root = isNamed ? dirname(absolute) : absolute;
    return [{ agent: only, root, below: slashes(relative(root, absolute)), isNamed }];
  }
  throw new Failure(
    EXIT.usage,
    `It is not clear which agent wrote ${absolute}.`,
    `Say so with --agent, one of: ${options.agents.map(({ id }) => id).join(', ')}.`,
  );
}

/** The agents' folders, had they been copied into this one: from a home, from what their variable names, or by agent. */
function copiesIn(folder: string, agents: readonly Agent[]): Place[] {
  return agents.flatMap((agent) => {
    const everyVariable = (path: string) => new Proxy({}, { get: () => path }) as Variables;
    const roots = [
      ...agent.roots({}, folder),
      ...agent.roots(everyVariable(folder), folder),
      ...agent.roots(everyVariable(join(folder, agent.id)), join(folder, agent.id)),
    ];
    return [...new Set(roots)].filter(existsSync).map((root) => ({ agent, root, below: '' }));
  });
}

/** The places inside a path, and the path itself where it is inside a place. */
function within(path: string, places: readonly Place[]): Place[] {
  return places.flatMap((place) => {
    if (isInside(place.root, path)) return existsSync(place.root) ? [place] : [];
    return isInside(path, place.root) ? [{ ...place, below: slashes(relative(place.root, path)) }] : [];
  });
}

const isInside = (path: string, folder: string) =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

const slashes = (path: string) => path.split(sep).join('/');

function ancestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestors(parent)];
}
