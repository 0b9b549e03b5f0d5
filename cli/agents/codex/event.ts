import type { RecordPlace } from '../agent.ts';
import { type Draft, draft, type Readers, readerOf } from '../shared/events.ts';
import { readContext, textsAt } from '../shared/messages.ts';
import { at, elementsAt, type Part, peek, peekText, takeText } from '../shared/part.ts';
import { event, eventOfKind, facts, fields, notice, quiet, readersOf, usage } from '../shared/readers.ts';
import { isCopied, nameTotal, threadOf } from '../shared/responses.ts';

/** Messages that the person saw. Kinds without a reader become a `record`. */
export function readEvent(part: Part, place: RecordPlace): Draft[] {
  const kind = peekText(part, 'payload.type') ?? '';
  const read = kind.startsWith('hook_') ? readNotice(kind) : readerOf(READERS, kind);
  return read?.(part, place) ?? [];
}

/** A `response_item` or `compacted` has the same content. */
const DUPLICATES = [
  ...['agent_message', 'agent_reasoning', 'agent_reasoning_raw_content', 'agent_reasoning_section_break'],
  'context_compacted',
];

const NOTICES = [
  ...['warning', 'background_event', 'deprecation_notice', 'model_reroute', 'guardian_warning', 'guardian_assessment'],
  ...['entered_review_mode', 'exited_review_mode', 'undo_completed', 'thread_rolled_back', 'thread_goal_updated'],
  ...['plan_update', 'mcp_startup_update', 'mcp_startup_complete', 'shutdown_complete'],
];

const TEXTS = [
  ...['message', 'text', 'summary', 'explanation', 'rationale', 'user_facing_hint'],
  ...['review_output.overall_explanation', 'goal.objective', 'error.message'],
].map((key) => `payload.${key}`);

const readNotice = (kind: string) => notice(kind, ...TEXTS);

const TOOL_ENDS = [
  ...['exec_command_end', 'patch_apply_end', 'mcp_tool_call_end', 'web_search_end', 'dynamic_tool_call_response'],
  ...['image_generation_end', 'view_image_tool_call', 'collab_agent_interaction_end', 'collab_waiting_end'],
  'collab_resume_end',
];

/** The result of a call whose output is in its `response_item`. `callId` joins the two. */
const readToolEnd = event('tool.result', {
  callId: 'payload.call_id',
  name: ['payload.invocation.tool', 'payload.tool'],
  exitCode: 'payload.exit_code',
  detail: 'payload',
});

const readTurnEnd = event('turn.finished', { reason: 'payload.reason', durationMs: 'payload.duration_ms' });

/** Settings that apply from here on. */
export const readSettings = facts({ cwd: 'cwd', model: 'model', tier: 'service_tier' });

const READERS: Readers = {
  user_message: readPrompt,
  item_completed: (part, place) => readItem(at(part, 'payload.item'), place),
  token_count: (part, at) => readUsage(part, at, 'payload.info.last_token_usage', 'payload.info.total_token_usage'),
  ...readersOf(['task_complete', 'turn_complete', 'turn_aborted'], () => readTurnEnd),
  ...readersOf(TOOL_ENDS, () => readToolEnd),
  ...readersOf(DUPLICATES, (kind) => quiet(`duplicate:${kind}`)),
  ...readersOf(NOTICES, readNotice),
  collab_agent_spawn_end: event('subagent.started', {
    subagent: 'payload.new_thread_id',
    callId: 'payload.call_id',
    agentType: 'payload.new_agent_role',
    description: 'payload.new_agent_nickname',
    prompt: 'payload.prompt',
  }),
  collab_close_end: event('subagent.finished', {
    subagent: 'payload.receiver_thread_id',
    callId: 'payload.call_id',
    result: 'payload.status',
  }),
  sub_agent_activity: (part) => readActivity(at(part, 'payload')),
  thread_name_updated: readThreadName,
  thread_settings_applied: (part) => readSettings(at(part, 'payload.thread_settings')),
  ...readersOf(['error', 'stream_error'], (kind) => eventOfKind('error', TEXTS, ['payload.codex_error_info'], kind)),
};

function readPrompt(part: Part, place: RecordPlace): Draft[] {
  const images = elementsAt(part, 'payload.images').length + elementsAt(part, 'payload.local_images').length;
  const kind = peekText(part, 'payload.kind') ?? 'plain';
  const text = takeText(part, 'payload.message');
  if (kind !== 'plain') return [draft('context.message', { text, kind })];
  // A sub-agent gets its prompts from its parent, and its file may begin with a copy of the parent's prompts.
  if (place.origin.subagent !== undefined) return [draft('context.message', { text, kind: 'subagent-prompt' })];
  return [draft('user.message', { text, images: images || undefined })];
}

function readThreadName(part: Part, place: RecordPlace): Draft[] {
  if (peek(part, 'payload.thread_id') !== threadOf(place.origin)) return [];
  return [draft('session.meta', { title: takeText(part, 'payload.thread_name') })];
}

const readTool = event('tool.result', { callId: 'id', name: 'tool', exitCode: 'exit_code', detail: '' });

/** Since 0.149, one kind of event, `item_completed`, replaces most of the older ones. */
function readItem(item: Part, place: RecordPlace): Draft[] {
  const type = peekText(item, 'type') ?? '';
  if (type === 'UserMessage') return readPromptItem(item, place);
  if (type === 'SubAgentActivity') return readActivity(item);
  if (/^(AgentMessage|Reasoning|Plan|ContextCompaction)$/.test(type)) return quiet(`duplicate:${type}`)(item);
  if (/^(EnteredReviewMode|ExitedReviewMode|HookPrompt)$/.test(type)) return [draft('notice', { kind: type })];
  return TOOL_KEYS.some((key) => peek(item, key) !== undefined) ? readTool(item) : [];
}

/** `CommandExecution`, `FileChange`, `McpToolCall`, `Extension` and other actions have one of these keys. */
const TOOL_KEYS = ['status', 'tool', 'action', 'exit_code', 'path', 'changes', 'kind'];

function readPromptItem(item: Part, place: RecordPlace): Draft[] {
  const texts = textsAt(item, 'content');
  if (place.origin.subagent !== undefined) return readContext(texts, 'subagent-prompt');
  const images = elementsAt(item, 'content').length - texts.length || undefined;
  if (texts.length === 0) return [draft('user.message', { images })];
  return texts.map((text, index) =>
    draft('user.message', { text: takeText(text), images: index === 0 ? images : undefined }),
  );
}

/** `started`, `interacted`, or one of several words for an end. The id of an event or an item is the call's id. */
function readActivity(activity: Part): Draft[] {
  const word = peekText(activity, 'kind') ?? '';
  const isEnd = /^(completed|finished|closed|shutdown|errored|interrupted)$/.test(word);
  const drafts = isEnd ? readActivityEnd(activity) : word === 'started' ? readActivityStart(activity) : [];
  return drafts.length > 0 ? drafts : [draft('notice', { kind: 'sub_agent_activity' })];
}

const ACTIVITY = { subagent: 'agent_thread_id', callId: ['event_id', 'id'] } as const;
const readActivityStart = fields('subagent.started', { ...ACTIVITY, description: 'agent_path' });
const readActivityEnd = fields('subagent.finished', ACTIVITY);

const COUNTS = {
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  cacheReadTokens: 'cached_input_tokens',
  cacheWriteTokens: 'cache_write_input_tokens',
  reasoningTokens: 'reasoning_output_tokens',
  totalTokens: 'total_tokens',
};
const readCounts = usage(COUNTS, 'included');

const COPY = quiet('duplicate:token_count');

/** The tokens of the last response, and the thread's running total. */
export function readUsage(part: Part, place: RecordPlace, last: string, total: string): Draft[] {
  if (isCopied(part, place)) return COPY(part);
  const [counts] = readCounts(at(part, last), { responseId: nameTotal(place, at(part, total)) });
  if (counts === undefined) return [];
  const model = takeText(part, 'payload.model');
  const tier = takeText(part, 'payload.service_tier');
  return [draft('usage', { ...counts.fields, model, tier })];
}
