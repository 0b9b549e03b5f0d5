import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import type { Context } from '../context.ts';

/** An agent as it is on this machine. */
export interface FoundAgent {
  agent: Agent;
  /** Absolute path of its program. */
  program?: string;
}

/** The agents whose program or folder is here. Runs none of them. */
export function findAgents(context: Pick<Context, 'agents' | 'variables' | 'home' | 'platform'>): FoundAgent[] {
  const { agents, variables, home } = context;
  return agents.flatMap((agent) => {
    const program = findProgram(context, agent.programs ?? []);
    const folders = [agent.folder?.(variables, home) ?? '', ...agent.roots(variables, home)];
    if (program !== undefined) return [{ agent, program }];
    return folders.some((folder) => folder !== '' && existsSync(folder)) ? [{ agent }] : [];
  });
}

/** The absolute path of the first of these programs that PATH has. */
function findProgram(
  { variables, platform }: Pick<Context, 'variables' | 'platform'>,
  names: readonly string[],
): string | undefined {
  const folders = (variables.PATH ?? variables.Path ?? '').split(delimiter).filter(isAbsolute);
  const endings = platform === 'win32' ? ['.exe', '.cmd'] : [''];
  return names
    .flatMap((name) => folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending))))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
