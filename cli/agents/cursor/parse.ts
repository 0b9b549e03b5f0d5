import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { JsonObject, RecordPlace } from '../agent.ts';
import { compose, type Draft, draft, type Readers, readerOf, shareText } from '../shared/events.ts';
import { countImages, readBlock } from '../shared/messages.ts';
import {
  at,
  elementsAt,
  isObject,
  type Part,
  partOf,
  peek,
  peekText,
  takeSame,
  takeText,
  takeWords,
} from '../shared/part.ts';
import { context, event, fields, notice, quiet, readersOf, usage } from '../shared/readers.ts';

/** Two events of a hook may be equal byte for byte. The names of their notes distinguish them. */
export function recordKey({ name, event, unreadable }: JsonObject): string | undefined {
  return typeof name === 'string' && (isObject(event) || isObject(unreadable)) ? `hook ${name}` : undefined;
}

export function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const part = partOf(record);
  if (isObject(record.event)) return parseHook(part, place);
  const isUnreadable = isObject(record.unreadable);
  const drafts = isUnreadable ? readUnreadable(part) : readLine(part, place);
  const kind = isUnreadable ? 'unreadable' : peekText(part, 'type');
  const isHook = recordKey(record) !== undefined;
  const envelope = {
    agent: 'cursor',
    record: isHook ? takeText(part, 'name') : undefined,
    occurredAt: isHook ? takeText(part, 'at') : undefined,
  } as const;
  return compose(part, place, envelope, drafts, kind);
}

const RAW = { raw: 'unreadable.raw', encoding: 'unreadable.encoding', reason: 'unreadable.reason' };
const readRaw = fields('unreadable', RAW);

/** A hook's input that is not JSON. */
const readUnreadable = (part: Part): Draft[] => (peek(part, 'unreadable.encoding') === 'utf8' ? readRaw(part) : []);

/** Which writing of a tool call an event is. */
const REVISIONS: { readonly [kind: string]: number } = { preToolUse: 1, postToolUse: 2, postToolUseFailure: 2 };

function parseHook(part: Part, place: RecordPlace): CapturedEvent[] {
  const hook = at(part, 'event');
  const kind = peekText(hook, 'hook_event_name') ?? '';
  const call = peekText(hook, 'tool_use_id');
  const revision = call === undefined ? undefined : REVISIONS[kind];
  const drafts = readerOf(HOOK_READERS, kind)?.(hook, place) ?? [];
  // Cursor does not say which model `default` is.
  shareText(hook, drafts, { model: 'model', messageId: 'generation_id', responseId: 'generation_id' });
  const { session } = place.origin;
  takeSame(hook, peek(hook, 'conversation_id') === session ? 'conversation_id' : 'session_id', session);
  const envelope = {
    agent: 'cursor',
    agentVersion: takeText(hook, 'cursor_version'),
    record: revision === undefined ? takeText(part, 'name') : call,
    revision,
    occurredAt: takeText(part, 'at'),
  } as const;
  return compose(part, place, envelope, drafts, kind || undefined);
}

/** Events of tools that other hooks report as well. */
const TOLD_TWICE = [
  ...['beforeShellExecution', 'afterShellExecution', 'beforeMCPExecution', 'afterMCPExecution', 'beforeReadFile'],
  'afterFileEdit',
];

/** The usage of a whole turn, reported with its answers and at its end. The largest figures of a generation count. */
const readUsage = usage(
  {
    inputTokens: 'input_tokens',
    outputTokens: 'output_tokens',
    cacheReadTokens: 'cache_read_tokens',
    cacheWriteTokens: 'cache_write_tokens',
  },
  'included',
);

/** A call before it runs. The event after the call is a revision of it, and repeats it with the result. */
const readCall = event(
  'tool.call',
  { callId: 'tool_use_id', name: 'tool_name', input: 'tool_input' },
  { name: 'tool' },
);

const SUBAGENT = { subagent: 'subagent_id', callId: 'tool_call_id' };
const readSubagentStart = fields('subagent.started', {
  ...SUBAGENT,
  agentType: 'subagent_type',
  description: 'description',
  prompt: 'task',
});
const readSubagentEnd = fields('subagent.finished', { ...SUBAGENT, result: 'summary' });

/** Readers of Cursor's hook events, by `hook_event_name`. */
const HOOK_READERS: Readers = {
  sessionStart: readStart,
  sessionEnd: readEnd,
  beforeSubmitPrompt: (hook) => {
    const images = countImages(hook, 'attachments');
    return [draft('user.message', { text: takeText(hook, 'prompt'), images })];
  },
  afterAgentResponse: (hook) => [
    draft('assistant.message', { text: takeText(hook, 'text') ?? '' }),
    ...readUsage(hook),
  ],
  afterAgentThought: event('assistant.reasoning', { text: 'text' }, { text: '' }),
  preToolUse: readCall,
  postToolUse: readToolResult,
  postToolUseFailure: readToolResult,
  stop: readStop,
  preCompact: event('compaction', { trigger: 'trigger', tokensBefore: 'context_tokens' }),
  subagentStart: (hook) => {
    const started = readSubagentStart(hook);
    return started.length > 0 ? started : notice('subagentStart', 'task')(hook);
  },
  subagentStop: (hook) => {
    const finished = readSubagentEnd(hook);
    return finished.length > 0 ? finished : notice('subagentStop', 'summary', 'description')(hook);
  },
  beforeTabFileRead: context('beforeTabFileRead'),
  afterTabFileEdit: notice('afterTabFileEdit'),
  ...readersOf(TOLD_TWICE, (name) => quiet(`duplicate:${name}`)),
};

function readStart(hook: Part): Draft[] {
  const cwd = takeText(hook, 'cwd', 'workspace_roots.0');
  return [draft('session.meta', { cwd, branch: takeText(hook, 'git_branch') })];
}

function readEnd(hook: Part): Draft[] {
  const text = takeWords(hook, 'error_message');
  return [text ? draft('error', { text, kind: 'sessionEnd' }) : draft('record', { kind: 'sessionEnd' })];
}

function readStop(hook: Part): Draft[] {
  const reason = takeText(hook, 'status');
  const error = takeWords(hook, 'error_message');
  const broken = error === undefined ? [] : [draft('error', { text: error, kind: 'stop' })];
  return [draft('turn.finished', { reason }), ...broken, ...readUsage(hook)];
}

const results = fields('tool.result', { output: ['tool_output', 'error_message'], durationMs: 'duration' });

function readToolResult(hook: Part): Draft[] {
  const callId = peekText(hook, 'tool_use_id');
  const isFailure = peek(hook, 'hook_event_name') === 'postToolUseFailure';
  const isError = isFailure || hasFailed(peek(hook, 'tool_output')) || undefined;
  return [...readCall(hook), ...results(hook, { callId, isError })];
}

const MAX_LOOKED_INTO = 1024 * 1024;

/** The output's text contains a command's exit code as JSON. */
function hasFailed(output: unknown): boolean {
  if (typeof output !== 'string' || output.length > MAX_LOOKED_INTO || !output.startsWith('{')) return false;
  try {
    const { exitCode } = JSON.parse(output) as { exitCode?: unknown };
    return typeof exitCode === 'number' && exitCode !== 0;
  } catch {
    return false;
  }
}

/** A line of a transcript: a message and its tool calls. It has no ids, times or results. */
function readLine(part: Part, place: RecordPlace): Draft[] {
  const role = peekText(part, 'role');
  if (role === undefined && peekText(part, 'type') === 'turn_ended') {
    return [draft('turn.finished', { reason: takeText(part, 'status') })];
  }
  if (role !== 'user' && role !== 'assistant') return [];
  const content = at(part, 'message.content');
  const blocks = peekText(content) === undefined ? elementsAt(content, '') : [content];
  const drafts = blocks.flatMap((block) => readSaid(block, role, place));
  shareText(part, drafts, { model: 'model' });
  return drafts;
}

function readSaid(block: Part, role: 'user' | 'assistant', { origin }: RecordPlace): Draft[] {
  const type = peekText(block, 'type') ?? 'text';
  // The hooks have reported it, together with the result.
  if (origin.hooked && /^tool[-_](use|call)$/.test(type)) return [draft('record', { kind: 'duplicate:tool_use' })];
  if (/^tool[-_]|^(thinking|reasoning)$/.test(type)) return readBlock(block);
  const typed = role === 'user' ? peekTyped(block) : undefined;
  if (typed !== undefined) return [draft('user.message', { text: typed })];
  const text = takeText(block, '', 'text');
  if (text === undefined) return [];
  if (role === 'assistant') return [draft('assistant.message', { text })];
  if (origin.subagent !== undefined) return [draft('context.message', { text, kind: 'subagent-prompt' })];
  const isInjected = text.trimStart().startsWith('<') && !text.includes('<user_query>');
  return [isInjected ? draft('context.message', { text, kind: 'attached' }) : draft('user.message', { text })];
}

/** The person's own words, without Cursor's wrapping. The whole text stays in `rest`. */
function peekTyped(block: Part): string | undefined {
  const text = peekText(block) ?? peekText(block, 'text') ?? '';
  return /^\s*<user_query>\s*([\s\S]*?)\s*<\/user_query>\s*$/.exec(text)?.[1];
}
