import { isInside } from '../paths.ts';
import type { Agent, Variables } from './agent.ts';

/** Every variable that moves the agent names this folder. */
export const everyVariable = (folder: string): Variables => new Proxy({}, { get: () => folder }) as Variables;

/** The roots in a folder that is like the agent's own. A root that is the folder itself proves nothing. */
export const rootsIn = (agent: Agent, folder: string, home: string): string[] =>
  [...new Set(agent.roots(everyVariable(folder), home))].filter((root) => root !== folder && isInside(root, folder));

/** An agent whose sessions and credentials are also in these absolute folders, for instance those of another account. */
export function withFolders(agent: Agent, folders: readonly string[]): Agent {
  if (folders.length === 0) return agent;
  const { roots, credentials } = agent;
  const inFolders = (list: (folder: string) => readonly string[]) => folders.flatMap(list);
  return {
    ...agent,
    roots: (variables, home) => [
      ...new Set([...roots(variables, home), ...inFolders((folder) => rootsIn(agent, folder, home))]),
    ],
    ...(credentials && {
      credentials: (variables, home) => [
        ...new Set([
          ...credentials(variables, home),
          ...inFolders((folder) => credentials(everyVariable(folder), home).filter((path) => isInside(path, folder))),
        ]),
      ],
    }),
  };
}
