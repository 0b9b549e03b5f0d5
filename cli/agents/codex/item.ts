import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { lengthAt, peekText, takeInteger, takeText } from '../typed.ts';
import { readActivityItem } from './subagent.ts';

const ITEM: Path = ['payload', 'item'];

/** Since 0.149 one kind of event, `item_completed`, stands for most of the older ones. */
export function readItem(remainder: Remainder, place: RecordPlace): Draft[] {
  const type = peekText(remainder, ...ITEM, 'type') ?? '';
  if (type === 'UserMessage') return readPrompt(remainder, place);
  if (type === 'SubAgentActivity') return readActivityItem(remainder);
  if (DUPLICATES.has(type)) return [draft('record', { kind: `duplicate:${type}` })];
  if (NOTICES.has(type)) return [draft('notice', { kind: type })];
  return isTool(remainder) ? readTool(remainder) : [];
}

const DUPLICATES = new Set(['AgentMessage', 'Reasoning', 'Plan', 'ContextCompaction']);
const NOTICES = new Set(['EnteredReviewMode', 'ExitedReviewMode', 'HookPrompt']);

/** `CommandExecution`, `FileChange`, `McpToolCall`, `Extension` and what else did something. */
function isTool(remainder: Remainder): boolean {
  const said = ['status', 'tool', 'action', 'exit_code', 'path', 'changes', 'kind'];
  return said.some((key) => peek(remainder, ...ITEM, key) !== undefined);
}

function readTool(remainder: Remainder): Draft[] {
  const callId = takeText(remainder, ...ITEM, 'id');
  const name = takeText(remainder, ...ITEM, 'tool');
  const exitCode = takeInteger(remainder, ...ITEM, 'exit_code');
  return [draft('tool.result', { callId, name, exitCode, detail: take(remainder, ...ITEM) })];
}

function readPrompt(remainder: Remainder, place: RecordPlace): Draft[] {
  const parts = lengthAt(remainder, ...ITEM, 'content');
  const texts = Array.from({ length: parts }, (_, index) => takeText(remainder, ...ITEM, 'content', index, 'text'));
  const typed = texts.filter((text) => text !== undefined);
  if (place.origin.subagent !== undefined) {
    return typed.map((text) => draft('context.message', { text, kind: 'subagent-prompt' }));
  }
  const images = parts - typed.length || undefined;
  if (typed.length === 0) return [draft('user.message', { images })];
  return typed.map((text, index) => draft('user.message', { text, images: index === 0 ? images : undefined }));
}
