import type { Entry } from '../../../transcript/entry/entry.ts';

/** The kind of a line of the timeline, shown by its colour and the glyph beside it. */
export const KINDS = ['person', 'answer', 'reasoning', 'read', 'run', 'edit', 'web', 'subagent', 'failure'] as const;
export type Kind = (typeof KINDS)[number];

const READS =
  /^(?:read|grep|glob|ls|list|view|cat|search|find|open|notebookread|read_\w+|list_\w+|search_\w+|grep_\w+)/i;
const EDITS =
  /^(?:edit|write|multiedit|create|replace|apply_patch|patch|str_replace\w*|notebookedit|update_file|delete_file)/i;
const WEBS = /^(?:web|fetch|browser|http|google)/i;
const SUBAGENTS = /^(?:task|agent|spawn_agent|delegate|subagent)$/i;

/** The kind of a tool, by its name: agents use similar names. An unknown tool counts as `run`. */
export function kindOfTool(name: string): Kind {
  if (WEBS.test(name)) return 'web';
  if (SUBAGENTS.test(name)) return 'subagent';
  if (EDITS.test(name)) return 'edit';
  return READS.test(name) ? 'read' : 'run';
}

/** The kind of an entry; undefined for entries without a line of their own. */
export function kindOfEntry(entry: Entry): Kind | undefined {
  if (entry.kind === 'prompt') return entry.lane === undefined ? 'person' : 'subagent';
  if (entry.kind === 'answer' || entry.kind === 'reasoning') return entry.kind;
  if (entry.kind === 'call') return entry.changes.length > 0 ? 'edit' : kindOfTool(entry.name);
  if (entry.kind === 'error' || (entry.kind === 'result' && entry.failed)) return 'failure';
  return undefined;
}
