import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { type Path, type Remainder, take } from '../remainder.ts';
import { lengthAt, peekText, takeFirstText, takeInteger, takeNumber, takeText } from '../typed.ts';
import { readItem } from './item.ts';
import { readSettings, readThreadName } from './meta.ts';
import { readActivity, readClose, readSpawn } from './subagent.ts';
import { readTokenCount } from './usage.ts';

/** What the person was shown. Kinds that have no reader become a `record`. */
export function readEvent(remainder: Remainder, place: RecordPlace): Draft[] {
  const kind = peekText(remainder, 'payload', 'type') ?? '';
  if (DUPLICATES.has(kind)) return [draft('record', { kind: `duplicate:${kind}` })];
  if (NOTICES.has(kind) || kind.startsWith('hook_')) return [readNotice(remainder, kind)];
  return READERS.get(kind)?.(remainder, place) ?? [];
}

type Reader = (remainder: Remainder, place: RecordPlace) => Draft[];

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['user_message', readPrompt],
  ['item_completed', readItem],
  ['token_count', readTokenCount],
  ['task_complete', readTurnEnd],
  ['turn_complete', readTurnEnd],
  ['turn_aborted', readTurnEnd],
  ['exec_command_end', readToolEnd],
  ['patch_apply_end', readToolEnd],
  ['mcp_tool_call_end', readToolEnd],
  ['web_search_end', readToolEnd],
  ['dynamic_tool_call_response', readToolEnd],
  ['image_generation_end', readToolEnd],
  ['view_image_tool_call', readToolEnd],
  ['collab_agent_interaction_end', readToolEnd],
  ['collab_waiting_end', readToolEnd],
  ['collab_resume_end', readToolEnd],
  ['collab_agent_spawn_end', readSpawn],
  ['collab_close_end', readClose],
  ['sub_agent_activity', readActivity],
  ['thread_name_updated', readThreadName],
  ['thread_settings_applied', readSettings],
  ['error', readError],
  ['stream_error', readError],
]);

/** Said by a `response_item`, or by `compacted`. */
const DUPLICATES = new Set([
  ...['agent_message', 'agent_reasoning', 'agent_reasoning_raw_content', 'agent_reasoning_section_break'],
  'context_compacted',
]);

const NOTICES = new Set([
  ...['warning', 'background_event', 'deprecation_notice', 'model_reroute', 'guardian_warning', 'guardian_assessment'],
  ...['entered_review_mode', 'exited_review_mode', 'undo_completed', 'thread_rolled_back', 'thread_goal_updated'],
  ...['plan_update', 'mcp_startup_update', 'mcp_startup_complete', 'shutdown_complete'],
]);

function readPrompt(remainder: Remainder, place: RecordPlace): Draft[] {
  const images = lengthAt(remainder, 'payload', 'images') + lengthAt(remainder, 'payload', 'local_images');
  const kind = peekText(remainder, 'payload', 'kind') ?? 'plain';
  const text = takeText(remainder, 'payload', 'message');
  if (kind !== 'plain') return [draft('context.message', { text, kind })];
  // To a sub-agent its parent speaks; and its file may begin with a copy of the parent's prompts.
  if (place.origin.subagent !== undefined) return [draft('context.message', { text, kind: 'subagent-prompt' })];
  return [draft('user.message', { text, images: images || undefined })];
}

function readTurnEnd(remainder: Remainder): Draft[] {
  const reason = takeText(remainder, 'payload', 'reason');
  return [draft('turn.finished', { reason, durationMs: takeNumber(remainder, 'payload', 'duration_ms') })];
}

/** What became of a call whose output is in its `response_item`: joined to it by `callId`. */
function readToolEnd(remainder: Remainder): Draft[] {
  const callId = takeText(remainder, 'payload', 'call_id');
  const name = takeFirstText(remainder, ['payload', 'invocation', 'tool'], ['payload', 'tool']);
  const exitCode = takeInteger(remainder, 'payload', 'exit_code');
  return [draft('tool.result', { callId, name, exitCode, detail: take(remainder, 'payload') })];
}

const TEXTS: readonly Path[] = [
  ...['message', 'text', 'summary', 'explanation', 'rationale', 'user_facing_hint'].map((key) => ['payload', key]),
  ['payload', 'review_output', 'overall_explanation'],
  ['payload', 'goal', 'objective'],
  ['payload', 'error', 'message'],
];

function readNotice(remainder: Remainder, kind: string): Draft {
  return draft('notice', { text: takeFirstText(remainder, ...TEXTS), kind });
}

function readError(remainder: Remainder): Draft[] {
  const kind = peekText(remainder, 'payload', 'codex_error_info') ?? peekText(remainder, 'payload', 'type');
  return [draft('error', { text: takeFirstText(remainder, ...TEXTS), kind })];
}
