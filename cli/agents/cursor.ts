import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace } from './agent.ts';
import { compose, type Draft, draft } from './compose.ts';
import { HOOK_KINDS } from './cursor/hook.ts';
import { readLine } from './cursor/line.ts';
import { folderOf, hookedAs, identify, isTranscript } from './cursor/origin.ts';
import type { Reader } from './reader.ts';
import { isObject, type Remainder, remainderOf, take } from './remainder.ts';
import { peekText, takeSame, takeText } from './typed.ts';

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
 *   `record`, kind `duplicate:tool_use`. `cli/read/hook-logs.ts` tells which it is.
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
  identify,
  folderOf,
  recordKey,
  parse,
};

const READERS: ReadonlyMap<string, Reader> = new Map(HOOK_KINDS);

/** Two events of a hook may be the same to the letter: what tells them apart is the name they were put down under. */
function recordKey({ name, event, unreadable }: JsonObject): string | undefined {
  return typeof name === 'string' && (isObject(event) || isObject(unreadable)) ? `hook ${name}` : undefined;
}

/** Which writing of a tool call an event is. */
const REVISIONS: ReadonlyMap<string, number> = new Map([
  ['preToolUse', 1],
  ['postToolUse', 2],
  ['postToolUseFailure', 2],
]);

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  if (isObject(record.event)) return parseHook(remainder, place);
  const isUnreadable = isObject(record.unreadable);
  const drafts = isUnreadable ? readUnreadable(remainder) : readLine(remainder, place);
  const kind = isUnreadable ? 'unreadable' : peekText(remainder, 'type');
  if (drafts.length === 0) drafts.push(draft('record', { kind }));
  const isHook = recordKey(record) !== undefined;
  const envelope = {
    agent: cursor.id,
    record: isHook ? takeText(remainder, 'name') : undefined,
    occurredAt: isHook ? takeText(remainder, 'at') : undefined,
  };
  return compose(remainder, place, envelope, drafts);
}

function parseHook(remainder: Remainder, place: RecordPlace): CapturedEvent[] {
  const kind = peekText(remainder, 'event', 'hook_event_name') ?? '';
  const call = peekText(remainder, 'event', 'tool_use_id');
  const revision = call === undefined ? undefined : REVISIONS.get(kind);
  const drafts = READERS.get(kind)?.(remainder, place) ?? [];
  if (drafts.length === 0) drafts.push(draft('record', { kind: kind || undefined }));
  const { session } = place.origin;
  const isNamed = peekText(remainder, 'event', 'conversation_id') === session;
  takeSame(remainder, session, 'event', isNamed ? 'conversation_id' : 'session_id');
  const envelope = {
    agent: cursor.id,
    agentVersion: takeText(remainder, 'event', 'cursor_version'),
    record: revision === undefined ? takeText(remainder, 'name') : call,
    revision,
    occurredAt: takeText(remainder, 'at'),
  };
  return compose(remainder, place, envelope, drafts);
}

/** What a hook was told and is no JSON. */
function readUnreadable(remainder: Remainder): Draft[] {
  const [raw, encoding, reason] = ['raw', 'encoding', 'reason'].map((key) => peekText(remainder, 'unreadable', key));
  if (raw === undefined || reason === undefined || encoding !== 'utf8') return [];
  take(remainder, 'unreadable', 'raw');
  take(remainder, 'unreadable', 'encoding');
  take(remainder, 'unreadable', 'reason');
  return [draft('unreadable', { raw, encoding, reason })];
}
