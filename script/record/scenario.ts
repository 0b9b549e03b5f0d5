/** What a scripted conversation consists of. Scenarios are data; the drivers and the model server act them out. */

/** One tool call. An object is sent as JSON arguments, a string as free-form input (Codex patches and code). */
export type Call = {
  tool: string;
  input: Record<string, unknown> | string;
  /** Codex groups some tools under a namespace and wants it repeated beside the name. */
  namespace?: string;
};

/** One answer of the model: everything it says and calls before it needs the results. */
export type Step = {
  think?: string;
  say?: string;
  calls?: Call[];
  /** Extra seconds of silence before the answer, where a person would expect the model to ponder. */
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

/** One process of the agent. A resumed run appends to the session's file; a forked one opens a file of its own. */
export type Run = { how: 'start' | 'resume' | 'fork'; turns: Turn[] };

/** The script of a sub-agent, recognised by a sentence of the task that its parent gives it. */
export type SubAgent = { task: string; steps: Step[] };

export type Scenario = {
  name: string;
  agent: 'claude-code' | 'codex';
  model: string;
  /** The folder below ~/code that the session works in. */
  project: Project;
  runs: Run[];
  subAgents?: SubAgent[];
  /** Further environment for the agent, for example to choose between its two to-do lists. */
  environment?: Record<string, string>;
};

/** A little repository: its files by path, committed before the session begins unless git ignores them. */
export type Project = { name: string; files: Record<string, string | Buffer> };
