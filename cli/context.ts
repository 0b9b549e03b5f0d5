import type { spawn } from 'node:child_process';
import type { Fetch } from '../contract/client.ts';
import type { Agent, Variables } from './agents/agent.ts';

/** A command's access to the world. No code below `main.ts` uses the world in another way. */
export interface Context {
  variables: Variables;
  /** The person's home folder. */
  home: string;
  /** The folder the command was started in. */
  folder: string;
  hostname: string;
  platform: string;
  agents: readonly Agent[];
  stdin: Input;
  stdout: Sink;
  stderr: Sink;
  fetch: Fetch;
  spawn: typeof spawn;
  /** How to run this very program: absolute paths, without a command. */
  program: readonly string[];
  /** Milliseconds since 1970. */
  now: () => number;
  /** Rejects when `signal` is aborted. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  random: () => number;
  newKey: () => string;
  pid: number;
  /** From here on, other processes get the processor first. */
  lowerPriority: () => void;
  /** From here on, signals that end this process go to `take` and do not abort `stop`. */
  takeSignals: (take: (signal: NodeJS.Signals) => void) => void;
  /** Aborted when the process receives a signal to end. */
  stop: AbortSignal;
}

/** The agents' credential files, if they exist. */
export const credentialsOf = ({ agents, variables, home }: Pick<Context, 'agents' | 'variables' | 'home'>): string[] =>
  agents.flatMap((agent) => agent.credentials?.(variables, home) ?? []);

/** The variables for another program. It must not get the secret. */
export const childEnvironment = ({ CAPTURE_SECRET: _, ...others }: Variables): Variables => others;

export type Input = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };

export interface Sink {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
}
