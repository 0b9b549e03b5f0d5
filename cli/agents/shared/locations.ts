import { join } from 'node:path';
import type { Agent, Variables } from '../agent.ts';

/** An agent's places as data. Paths are below its own folder unless they name the home. */
export interface Locations {
  /** Its own folder, below the person's home. */
  folder: string;
  /** The variable that moves its folder. It may list several folders, separated by commas. */
  movedBy?: string;
  /** Whether that variable moves the whole home folder for this agent. */
  movesHome?: true;
  /** The folder in it that contains everything else, and the variable that moves that folder. */
  data?: { folder: string; movedBy: string };
  roots: readonly string[];
  /** The variable whose folder is another root. */
  rootMovedBy?: string;
  /** The variable whose folder contains the roots, if it is set. */
  rootsMovedBy?: string;
  credentials?: readonly string[];
  /** The credentials below the person's home. */
  credentialsAtHome?: readonly string[];
}

type Located = Required<Pick<Agent, 'folder' | 'roots' | 'credentials' | 'variables'>> & {
  /** A path in the agent's folder. */
  inFolder(path: string): (variables: Variables, home: string) => string;
};

export function locate(locations: Locations): Located {
  const {
    movedBy,
    movesHome,
    data,
    roots,
    rootMovedBy,
    rootsMovedBy,
    credentials = [],
    credentialsAtHome = [],
  } = locations;
  const named = (variables: Variables, name: string | undefined) => (name && variables[name]) || undefined;

  /** The variables once for each folder that they list. The first folder is the one whose settings the agent uses. */
  function perFolder(variables: Variables): readonly [Variables, ...Variables[]] {
    const [first, ...others] =
      named(variables, movedBy)
        ?.split(',')
        .map((folder) => folder.trim())
        .filter(Boolean) ?? [];
    if (movedBy === undefined || first === undefined || others.length === 0) return [variables];
    const movedTo = (folder: string) => ({ ...variables, [movedBy]: folder });
    return [movedTo(first), ...others.map(movedTo)];
  }

  function folder(given: Variables, home: string): string {
    const [variables] = perFolder(given);
    const moved = named(variables, movedBy);
    return movesHome ? join(moved ?? home, locations.folder) : (moved ?? join(home, locations.folder));
  }

  function dataFolder(variables: Variables, home: string): string {
    if (data === undefined) return folder(variables, home);
    return named(variables, data.movedBy) ?? join(folder(variables, home), data.folder);
  }

  return {
    variables: [data?.movedBy, movedBy, rootMovedBy, rootsMovedBy].filter((name) => name !== undefined),
    folder,
    inFolder: (path) => (variables, home) => join(folder(variables, home), path),
    roots: (given, home) => [
      ...[named(given, rootMovedBy)].filter((root) => root !== undefined),
      ...perFolder(given).flatMap((variables) =>
        roots.map((root) => join(named(variables, rootsMovedBy) ?? dataFolder(variables, home), root)),
      ),
    ],
    credentials: (given, home) => [
      ...perFolder(given).flatMap((variables) => credentials.map((file) => join(dataFolder(variables, home), file))),
      ...credentialsAtHome.map((file) => join(home, file)),
    ],
  };
}
