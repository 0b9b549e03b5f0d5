import type { Entry } from '../../../contract/entry/entry.ts';

/** What a line of the timeline is about, told apart by colour and by the glyph beside it. */
export const KINDS = ['person', 'answer', 'reasoning', 'read', 'run', 'edit', 'web', 'subagent', 'failure'] as const;
export type Kind = (typeof KINDS)[number];

const READS =
  /^(?:read|grep|glob|ls|list|view|cat|search|find|open|notebookread|read_\w+|list_\w+|search_\w+|grep_\w+)/i;
const EDITS =
  /^(?:edit|write|multiedit|create|replace|apply_patch|patch|str_replace\w*|notebookedit|update_file|delete_file)/i;
const WEBS = /^(?:web|fetch|browser|http|google)/i;
const SUBAGENTS = /^(?:task|agent|spawn_agent|delegate|subagent)$/i;

/** By its name: agents name their tools much alike. What is not known is run. */
export function kindOfTool(name: string): Kind {
  if (WEBS.test(name)) return 'web';
  if (SUBAGENTS.test(name)) return 'subagent';
  if (EDITS.test(name)) return 'edit';
  return READS.test(name) ? 'read' : 'run';
}

/** Nothing for what has no line of its own. */
export function kindOfEntry(entry: Entry): Kind | undefined {
  if (entry.kind === 'prompt') return entry.lane === undefined ? 'person' : 'subagent';
  if (entry.kind === 'answer' || entry.kind === 'reasoning') return entry.kind;
  if (entry.kind === 'call') return entry.changes.length > 0 ? 'edit' : kindOfTool(entry.name);
  if (entry.kind === 'error' || (entry.kind === 'result' && entry.failed)) return 'failure';
  return undefined;
}
