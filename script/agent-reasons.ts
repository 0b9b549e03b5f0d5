import type { Feature } from '../cli/test/agents/features.ts';
import type { AgentId } from '../contract/agent.ts';

/** Reasons for the cells of the support matrix that are not `yes`. */

/** What an agent does not have, or does not write. */
export const MISSING: { readonly [agent in AgentId]?: { readonly [feature in Feature]?: string } } = {
  'gemini-cli': { forks: 'the program has none' },
  'copilot-cli': { forks: 'its command line starts none' },
  cline: { resume: 'its command line cannot resume without a terminal' },
  cursor: { forks: 'its transcripts do not name the parent' },
  droid: {
    tokens: 'the program writes only their total, in another file',
    cost: 'there are no tokens per response',
    forks: 'its transcripts do not name the parent',
  },
  goose: {
    forks: 'the database does not name the parent',
    compactions: 'the database does not mark them',
  },
  'roo-code': {
    'sub-agents': 'a subtask is a session of its own',
    forks: 'the extension has none',
    cost: 'the task document does not name the model of a response',
  },
  aider: {
    calls: 'the chat history has only text',
    results: 'the chat history has only text',
    tokens: 'the chat history has only rounded counts',
    cost: 'there are no exact tokens',
    'sub-agents': 'the program has none',
    forks: 'the program has none',
    compactions: 'the chat history does not mark them',
  },
  custom: { compactions: 'the format has no record of them' },
  pi: { 'sub-agents': 'the program has none of its own' },
  'antigravity-cli': {
    tokens: 'its transcripts have none',
    cost: 'there are no tokens',
    'sub-agents': 'it is not established how the program marks them',
    forks: 'it is not established how the program marks them',
  },
};

/** Why no test runs the program. Its cells are from samples at best. */
export const NOT_RUN: { readonly [agent in AgentId]?: string } = {
  cursor: 'the program needs an account, so no test runs it',
  'antigravity-cli':
    'the program needs an account, and its format is known only from other readers of it, so no test runs it',
  droid: 'the program needs an account, so no test runs it',
  goose: 'the program is not on npm, so no test runs it',
  kilo: 'the package on npm does not contain the program, so no test runs it',
  'roo-code': 'the extension runs only in VS Code, so no test runs it',
  aider: 'the program is not on npm, so no test runs it',
  custom: 'your program writes these records, so only samples can be tested',
};

/** Why the tests with real programs do not show a feature. */
export const NOT_TRIED: { readonly [feature in Feature]?: string } = {
  'sub-agents': 'the model of the tests starts none',
  forks: 'the command line starts none without a terminal',
  compactions: 'the conversations of the tests are too short for one',
};

/** Agents that capture does not support. */
export const UNSUPPORTED: readonly { name: string; reason: string }[] = [
  {
    name: 'Kiro CLI',
    reason:
      'no reader yet. Other readers describe files of lines (`~/.kiro/sessions/cli`), files of a later version in folders of workspaces, and ' +
      'two tables of a database, whose schemas the vendor does not publish. The folder is in another file than the conversation. The ' +
      'program needs an account, so no test can run it',
  },
  {
    name: 'Grok Build',
    reason:
      'no reader yet. `updates.jsonl`, the log that the program reads itself, contains answers in pieces, and `chat_history.jsonl` has neither ' +
      'times nor ids and is written again after a compaction',
  },
];
