import { join } from 'node:path';
import type { Agent, JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { headerOf, stemOf, toOrigin } from '../shared/identity.ts';
import { isObject, partOf, peekWords } from '../shared/part.ts';
import { parse, recordKey } from './parse.ts';

/** None is one that asks for permission: those wait for an answer. */
const HOOK_EVENTS = [
  ...['sessionStart', 'beforeSubmitPrompt', 'postToolUse', 'postToolUseFailure', 'afterAgentResponse'],
  ...['afterAgentThought', 'preCompact', 'subagentStop', 'stop', 'sessionEnd'],
];
const HOOK_SECONDS = 5;

/**
 * Cursor's own transcripts lack ids, times, models and what tools answered; its hooks tell all of that. So the hooks are
 * the record: `cli/read/inbox.ts` writes down what they say, a file per conversation, an event per line, each with the
 * name of the file it came in and the time. Cursor's transcripts are read
 * - in full for conversations of which no hook told anything: those from before the hooks were there;
 * - not at all once a hook has told a prompt or an answer of the conversation;
 * - when it is over, for conversations whose hooks told only of tools, as in `agent -p`: then the calls in it become
 *   `record`, kind `duplicate:tool_use`. `cli/read/inbox.ts` tells which it is.
 *
 * A call is told before it runs (`preToolUse`, if that hook is installed) and again with its result: two revisions of
 * one record. What hooks for single kinds of tools tell in addition is `record`, kind `duplicate:…`.
 *
 * Not seen: Cursor's database (`state.vscdb`) with conversations from before, transcripts as `.txt`; what the tab key
 * completes; in transcripts, times, models, tokens and results; of a conversation in which the hooks were installed, what
 * was said before and not captured until then.
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
  identify,
  folderOf,
  recordKey,
  parse,
};

/**
 * `<folder>/agent-transcripts/<id>.jsonl` or `…/<id>/<id>.jsonl`, of sub-agents `…/<id>/subagents/<id>.jsonl`; and what
 * the hooks told of a conversation, `<id>.jsonl` in a folder of capture's own.
 */
const TRANSCRIPT = /(?:^|\/)agent-transcripts\/(?:([^/]+)\/)?(subagents\/)?([^/]+)\.jsonl$/;

function isTranscript(path: string): boolean {
  return TRANSCRIPT.test(path) || /^[^/]+\.jsonl$/.test(path);
}

/** Which conversation's hooks may have told what a transcript says; undefined for a file of hook events itself. */
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
