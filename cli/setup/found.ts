import { existsSync } from 'node:fs';
import { CATALOG } from '../../contract/agent.ts';
import type { Context } from '../context.ts';
import type { AgentHooks } from '../hooks/agent-hooks.ts';
import { findProgram, readVersion } from './programs.ts';

/** An agent as it is on this machine. */
export interface FoundAgent {
  row: AgentHooks;
  /** As people call it. */
  name: string;
  /** The folder of its settings. */
  folder: string;
  /** Whether its program or its folder is there. */
  isFound: boolean;
  program?: string;
  version?: string;
}

/** Looks for each agent's program and folder, and may ask the programs for their versions, all at a time. */
export const findAgents = (context: Context, rows: readonly AgentHooks[], asksVersions = true): Promise<FoundAgent[]> =>
  Promise.all(rows.map((row) => findAgent(context, row, asksVersions)));

async function findAgent(context: Context, row: AgentHooks, asksVersion: boolean): Promise<FoundAgent> {
  const program = findProgram(context, row.programs);
  const version = program && asksVersion && (await readVersion(context, program));
  const folder = row.folder(context.variables, context.home);
  return {
    row,
    name: nameOf(row),
    folder,
    isFound: program !== undefined || existsSync(folder),
    ...(program && { program }),
    ...(version && { version }),
  };
}

const nameOf = ({ id }: AgentHooks): string => CATALOG.find(({ agentId }) => agentId === id)?.displayName ?? id;
