import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentId } from '../../../../contract/agent.ts';

/** Where an agent runs: a home folder and a project of its own, a model on loopback. */
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
  /** The agent's own id of the session to go on with. */
  session: string;
}

export interface Invocation {
  program: string;
  args: string[];
  variables: { [name: string]: string };
}

/** How a real agent is made to work without a person, an account or a network. */
export interface Driver {
  agent: AgentId;
  /** Writes what the agent needs to know into the home folder. */
  prepare(place: Place): void;
  invoke(turn: Turn, place: Place): Invocation;
  /** When a prompt reaches the disk that the model takes long to answer, or never answers. */
  writesPrompt: 'at once' | 'when interrupted' | 'when answered';
  /** Where below the home folder it keeps what it did: lines of JSON, documents, or a database. */
  stored: string;
  canResume: boolean;
  /** A fork begins with its parent's records: under the ids they have, or under new ones, which nobody can tell from new records. */
  forks: 'same ids' | 'new ids' | 'never';
}

export function writeJson(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

export const packageFile = ({ agents }: Place, path: string): string => join(agents, 'node_modules', path);
