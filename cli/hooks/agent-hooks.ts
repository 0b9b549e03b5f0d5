import type { AgentId } from '../../contract/agent.ts';
import type { JsonObject, Variables } from '../agents/agent.ts';

/**
 * What must be known of an agent to have its hooks ring: a row of a table. A new agent is one file like
 * `agents/claude-code.ts` and a line in `all.ts`.
 */
export interface AgentHooks {
  id: AgentId;
  /** The agent's program, by the names it may have in PATH. */
  programs: readonly string[];
  /** The folder of the agent's settings. */
  folder(variables: Variables, home: string): string;
  /** What is to be in which file. Nothing for an agent whose sessions are found by looking only. */
  files(place: HookPlace): HookFile[];
  /** Files whose `hooks` an agent reads, beside those above, and what in them silences hooks or deletes history. */
  settings?: AgentSettings;
}

export interface HookPlace {
  /** The folder of the agent's settings. */
  folder: string;
  platform: string;
  /** A command line that runs the hook for this agent, for an agent that hands it to a shell. */
  command: string;
  /** The same for one that may not. */
  plainCommand: string;
}

/** Entries among somebody else's in a JSON file, or a file of our own. */
export type HookFile = MergedFile | OwnFile;

export interface MergedFile {
  kind: 'merged';
  path: string;
  /** Members the root must have, which are added where absent. */
  root?: JsonObject;
  entries: readonly HookEntry[];
}

export interface HookEntry {
  /** Member of the root's `hooks` that holds the list. */
  event: string;
  /** Goes to the end of the list. */
  value: JsonObject;
}

export interface OwnFile {
  kind: 'own';
  path: string;
  content: string;
  /** What a file at this path holds if it is one of ours. */
  marker: string;
  mode: number;
}

export interface AgentSettings {
  /** The person's own settings. */
  path(folder: string): string;
  /** Settings an organization imposes, by platform. */
  policies?: { readonly [platform: string]: readonly string[] };
  /** Why hooks do not run, if these settings say so. */
  findSilence(settings: JsonObject, isPolicy: boolean): string | undefined;
  /** After how many days the agent deletes its transcripts. */
  findRetention?(settings: JsonObject): Retention | undefined;
}

export interface Retention {
  setting: string;
  days: number;
}

/** A list of groups with a list of handlers each: the shape that Claude Code began with. */
export const group = (events: readonly string[], handler: JsonObject): HookEntry[] =>
  events.map((event) => ({ event, value: { hooks: [handler] } }));
