import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentId } from '../../../../contract/agent.ts';

/** Where an agent runs: a home folder, a project, and a model on loopback. */
export interface Place {
  /** The folder that the agents' packages are installed in. */
  agents: string;
  home: string;
  folder: string;
  modelUrl: string;
}

export interface Turn {
  how: 'start' | 'resume' | 'fork';
  prompt: string;
  /** The agent's own id of the session to continue. */
  session: string;
}

export interface Invocation {
  program: string;
  args: string[];
  variables: { [name: string]: string };
}

/** Runs a real agent without a person, an account or a network. */
export interface Driver {
  agent: AgentId;
  /** The package that `agents.json` installs. */
  package: string;
  /** Writes the agent's settings into the home folder. */
  prepare(place: Place): void;
  invoke(turn: Turn, place: Place): Invocation;
  /** When the agent writes a prompt to disk if the model answers it late or never. */
  writesPrompt: 'at once' | 'when interrupted' | 'when answered';
  /** Files below the home folder in which the agent keeps its sessions: lines of JSON, documents, or a database. */
  stored: string;
  canResume: boolean;
  /** A fork begins with its parent's records, with the same ids or with new ones, which look like new records. */
  forks: 'same ids' | 'new ids' | 'never';
}

export function writeJson(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

export const packageFile = ({ agents }: Place, path: string): string => join(agents, 'node_modules', path);
