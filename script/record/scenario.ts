/** The parts of a scripted conversation. Scenarios are data that the drivers and the model server play. */

/** One tool call. Objects are sent as JSON arguments, strings as free-form input (Codex patches and code). */
export type Call = {
  tool: string;
  input: Record<string, unknown> | string;
  /** Codex groups some tools in a namespace and requires it beside the name. */
  namespace?: string;
};

/** One answer of the model: everything it says and calls before it needs the results. */
export type Step = {
  think?: string;
  say?: string;
  calls?: Call[];
  /** Extra seconds before the answer, at points where a real model would take long. */
  wait?: number;
};

export type Turn = {
  prompt: string;
  steps: Step[];
  /** Seconds the developer takes to read the previous answer and type this prompt. */
  pause?: number;
  /** Paths inside the project of pictures to attach. */
  images?: string[];
  /** Codex only: settings for this turn alone, as `key=value` in TOML. */
  settings?: string[];
};

/** One process of the agent. A resumed run appends to the session's file; a forked one opens its own file. */
export type Run = { how: 'start' | 'resume' | 'fork'; turns: Turn[] };

/** The script of a sub-agent, which is recognized by a sentence in its parent's task for it. */
export type SubAgent = { task: string; steps: Step[] };

export type Scenario = {
  name: string;
  agent: 'claude-code' | 'codex';
  model: string;
  /** The session's folder below ~/code. */
  project: Project;
  runs: Run[];
  subAgents?: SubAgent[];
  /** Additional environment variables for the agent, for example to choose between its two to-do lists. */
  environment?: Record<string, string>;
};

/** A small repository: its files by path, committed before the session begins unless git ignores them. */
export type Project = { name: string; files: Record<string, string | Buffer> };
