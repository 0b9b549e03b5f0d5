import { join } from 'node:path';
import type { Agent, JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { headerOf, stemOf, toOrigin } from '../shared/identity.ts';
import { isObject, partOf, peekWords } from '../shared/part.ts';
import { parse, recordKey } from './parse.ts';

/** None of these asks for permission, because such a hook waits for an answer. */
const HOOK_EVENTS = [
  ...['sessionStart', 'beforeSubmitPrompt', 'postToolUse', 'postToolUseFailure', 'afterAgentResponse'],
  ...['afterAgentThought', 'preCompact', 'subagentStop', 'stop', 'sessionEnd'],
];
const HOOK_SECONDS = 5;

/**
 * Cursor's own transcripts lack ids, times, models and the results of tools. Its hooks report all of that, so the hooks are
 * the record. `cli/read/inbox.ts` writes one file per conversation and one event per line, each with the name of its note and
 * the time. Cursor's transcripts are read
 * - in full for conversations without any hook event: those from before the hooks were installed;
 * - not at all once a hook has reported a prompt or an answer of the conversation;
 * - after the end of a conversation whose hooks reported only tools, as in `agent -p`: then the calls in it become
 *   `record`, kind `duplicate:tool_use`. `cli/read/inbox.ts` decides which case applies.
 * A call is reported before it runs (`preToolUse`, if that hook is installed) and again with its result: two revisions of one
 * record. Additional events from hooks for single kinds of tools become `record`, kind `duplicate:…`.
 * Not captured: Cursor's database (`state.vscdb`) with older conversations; transcripts as `.txt`; tab completions; in
 * transcripts, the times, models, tokens and results; and in a conversation during which the hooks were installed, the
 * earlier part if it was not captured by then.
 */
export const cursor: Agent = {
  id: 'cursor',
  displayName: 'Cursor',
  programs: ['cursor-agent', 'cursor'],
  folder: (_, home) => join(home, '.cursor'),
  credentials: (_, home) => [join(home, '.cursor', 'mcp.json'), join(home, '.config', 'cursor', 'auth.json')],
  hooks: {
    path: (_, home) => join(home, '.cursor', 'hooks.json'),
    root: { version: 1 },
    events: HOOK_EVENTS,
    entry: (command) => ({ command, timeout: HOOK_SECONDS }),
  },
  roots: ({ CAPTURE_HOME }, home) => [
    join(home, '.cursor', 'projects'),
    join(CAPTURE_HOME || join(home, '.capture'), 'sessions', 'cursor'),
  ],
  isTranscript,
  hookedAs,
  endsSession: ({ event }) => isObject(event) && event.hook_event_name === 'sessionEnd',
  plainRecords: ['sessionEnd'],
  identify,
  folderOf,
  recordKey,
  parse,
};

/**
 * `<folder>/agent-transcripts/<id>.jsonl` or `…/<id>/<id>.jsonl`. For sub-agents, `…/<id>/subagents/<id>.jsonl`. The hook
 * events of a conversation are in `<id>.jsonl` in a folder of capture's own.
 */
const TRANSCRIPT = /(?:^|\/)agent-transcripts\/(?:([^/]+)\/)?(subagents\/)?([^/]+)\.jsonl$/;

function isTranscript(path: string): boolean {
  return TRANSCRIPT.test(path) || /^[^/]+\.jsonl$/.test(path);
}

/** The conversation whose hooks may have reported a transcript's content. Undefined for a file of hook events itself. */
function hookedAs(path: string): string | undefined {
  return TRANSCRIPT.exec(path)?.[3];
}

function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const [, parent, isInSubagents, stem] = TRANSCRIPT.exec(path) ?? [];
  if (stem !== undefined) {
    return isInSubagents && parent !== undefined ? { session: parent, subagent: stem } : { session: stem };
  }
  const record = headerOf(first);
  return toOrigin({
    session: peekWords(record, 'event.conversation_id', 'event.session_id') ?? stemOf(path),
    agentVersion: peekWords(record, 'event.cursor_version'),
    cwd: first && folderOf(first),
  });
}

function folderOf(record: JsonObject): string | undefined {
  return peekWords(partOf(record), 'event.cwd', 'event.workspace_roots.0');
}
