import { type Draft, draft } from '../compose.ts';
import { context, elementsAt, notice, quiet, type Reader, type Readers } from '../reader.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeFirstText, takeInteger, takeText } from '../typed.ts';
import { readCall, readToolFailure, readToolResult } from './tool.ts';

const told =
  (name: string): Reader =>
  () => [draft('record', { kind: `duplicate:${name}` })];

/** What Cursor's hooks tell, by `hook_event_name`. */
export const HOOK_KINDS: Readers = [
  ['sessionStart', readStart],
  ['sessionEnd', readEnd],
  ['beforeSubmitPrompt', readPrompt],
  ['afterAgentResponse', readAnswer],
  ['afterAgentThought', readThought],
  ['preToolUse', (remainder) => readCall(remainder)],
  ['postToolUse', readToolResult],
  ['postToolUseFailure', readToolFailure],
  ['stop', readStop],
  ['preCompact', readCompaction],
  ['subagentStart', readSubagentStart],
  ['subagentStop', readSubagentStop],
  ['workspaceOpen', quiet('workspaceOpen')],
  ['beforeTabFileRead', context('beforeTabFileRead')],
  ['afterTabFileEdit', notice('afterTabFileEdit')],
  // Of these tools the hooks above tell as well.
  ['beforeShellExecution', told('beforeShellExecution')],
  ['afterShellExecution', told('afterShellExecution')],
  ['beforeMCPExecution', told('beforeMCPExecution')],
  ['afterMCPExecution', told('afterMCPExecution')],
  ['beforeReadFile', told('beforeReadFile')],
  ['afterFileEdit', told('afterFileEdit')],
];

const at = (...path: Path): Path => ['event', ...path];

function readStart(remainder: Remainder): Draft[] {
  const cwd = takeFirstText(remainder, at('cwd'), at('workspace_roots', 0));
  return [
    draft('session.meta', { cwd, branch: takeText(remainder, ...at('git_branch')), model: takeModel(remainder) }),
  ];
}

function readEnd(remainder: Remainder): Draft[] {
  const error = peekText(remainder, ...at('error_message')) ? takeText(remainder, ...at('error_message')) : undefined;
  return [error ? draft('error', { text: error, kind: 'sessionEnd' }) : draft('record', { kind: 'sessionEnd' })];
}

function readPrompt(remainder: Remainder): Draft[] {
  const isImage = (path: Path) => peekText(remainder, ...path, 'type') === 'image';
  const images = elementsAt(remainder, ...at('attachments')).filter(isImage).length || undefined;
  return [draft('user.message', { text: takeText(remainder, ...at('prompt')), images })];
}

function readAnswer(remainder: Remainder): Draft[] {
  const usage = readUsage(remainder);
  const facts = { model: takeModel(remainder), messageId: takeText(remainder, ...at('generation_id')) };
  const text = takeText(remainder, ...at('text')) ?? '';
  return [draft('assistant.message', { text, ...facts }), ...usage];
}

function readThought(remainder: Remainder): Draft[] {
  const text = takeText(remainder, ...at('text')) ?? '';
  const messageId = takeText(remainder, ...at('generation_id'));
  return [draft('assistant.reasoning', { text, model: takeModel(remainder), messageId })];
}

function readStop(remainder: Remainder): Draft[] {
  const usage = readUsage(remainder);
  if (usage.length > 0) {
    takeText(remainder, ...at('generation_id'));
    takeModel(remainder);
  }
  const reason = takeText(remainder, ...at('status'));
  const error = peekText(remainder, ...at('error_message')) ? takeText(remainder, ...at('error_message')) : undefined;
  const broken = error === undefined ? [] : [draft('error', { text: error, kind: 'stop' })];
  return [draft('turn.finished', { reason }), ...broken, ...usage];
}

/** Of a turn as a whole, told with its answers as well as at its end: the largest figures of a generation count. */
function readUsage(remainder: Remainder): Draft[] {
  const count = (key: string) => takeInteger(remainder, ...at(key));
  const counts = {
    inputTokens: count('input_tokens'),
    outputTokens: count('output_tokens'),
    cacheReadTokens: count('cache_read_tokens'),
    cacheWriteTokens: count('cache_write_tokens'),
  };
  if (Object.values(counts).every((value) => value === undefined)) return [];
  const responseId = peekText(remainder, ...at('generation_id'));
  const model = peekText(remainder, ...at('model')) || undefined;
  return [draft('usage', { responseId, model, ...counts, cached: 'included' })];
}

function readCompaction(remainder: Remainder): Draft[] {
  const trigger = takeText(remainder, ...at('trigger'));
  return [draft('compaction', { trigger, tokensBefore: takeInteger(remainder, ...at('context_tokens')) })];
}

function readSubagentStart(remainder: Remainder): Draft[] {
  const subagent = takeText(remainder, ...at('subagent_id'));
  if (subagent === undefined) return notice('subagentStart', at('task'))(remainder, NOWHERE);
  const callId = takeText(remainder, ...at('tool_call_id'));
  const agentType = takeText(remainder, ...at('subagent_type'));
  const description = takeText(remainder, ...at('description'));
  return [
    draft('subagent.started', { subagent, callId, agentType, description, prompt: takeText(remainder, ...at('task')) }),
  ];
}

function readSubagentStop(remainder: Remainder): Draft[] {
  const subagent = takeText(remainder, ...at('subagent_id'));
  if (subagent === undefined) return notice('subagentStop', at('summary'), at('description'))(remainder, NOWHERE);
  const callId = takeText(remainder, ...at('tool_call_id'));
  return [draft('subagent.finished', { subagent, callId, result: take(remainder, ...at('summary')) })];
}

/** These readers ask for the texts alone. */
const NOWHERE = { origin: { session: '' }, file: '', position: 0 };

/** Which model `default` is, Cursor does not tell. */
function takeModel(remainder: Remainder): string | undefined {
  return peek(remainder, ...at('model')) === '' ? undefined : takeText(remainder, ...at('model'));
}
