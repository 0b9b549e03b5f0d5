import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import type { Path, Remainder } from '../remainder.ts';
import { peek, take } from '../remainder.ts';
import { peekText, takeFirstText, takeInteger, takeText } from '../typed.ts';

/** Whose message the part is of; `summary` is one that replaces the conversation so far. */
export type Role = 'user' | 'assistant' | 'summary' | 'part';

type PartReader = (remainder: Remainder, at: Path, role: Role, place: RecordPlace) => Draft[];

const quiet =
  (kind: string): PartReader =>
  () => [draft('record', { kind })];

/** Text that the program or the person put into the conversation, told by its kind. */
const attached =
  (kind: string, ...text: Path): PartReader =>
  (remainder, at) => [
    draft('context.message', { text: text.length ? takeText(remainder, ...at, ...text) : undefined, kind }),
  ];

const READERS: ReadonlyMap<string, PartReader> = new Map<string, PartReader>([
  ['text', readText],
  ['reasoning', readReasoning],
  ['tool', readTool],
  ['step-start', quiet('step-start')],
  ['step-finish', readStepFinish],
  ['patch', quiet('patch')],
  ['snapshot', quiet('snapshot')],
  ['compaction', quiet('compaction')],
  ['file', attached('file')],
  ['agent', attached('agent')],
  ['subtask', attached('subtask', 'prompt')],
  ['retry', readRetry],
]);

/** The events of the part at a place. */
export function readPart(remainder: Remainder, at: Path, role: Role, place: RecordPlace): Draft[] {
  const type = peekText(remainder, ...at, 'type') ?? '';
  const drafts = READERS.get(type)?.(remainder, at, role, place) ?? [];
  return drafts.length > 0 ? drafts : [draft('record', { kind: type || undefined })];
}

function readText(remainder: Remainder, at: Path, role: Role, { origin }: RecordPlace): Draft[] {
  // Begun, but nothing said yet.
  if (!peekText(remainder, ...at, 'text')) return [draft('record', { kind: 'text' })];
  const text = takeText(remainder, ...at, 'text') ?? '';
  if (role === 'summary') return [draft('compaction', { summary: text })];
  if (role === 'assistant' || (role === 'part' && peek(remainder, ...at, 'time') !== undefined)) {
    return [draft('assistant.message', { text, ...ofModel(remainder, at) })];
  }
  if (peek(remainder, ...at, 'synthetic') === true) return [draft('context.message', { text, kind: 'synthetic' })];
  // Shown to the person and not to the model, by a plugin.
  if (peek(remainder, ...at, 'ignored') === true) return [draft('notice', { text, kind: 'ignored' })];
  if (origin.subagent !== undefined) return [draft('context.message', { text, kind: 'subagent-prompt' })];
  return [draft('user.message', { text })];
}

function readReasoning(remainder: Remainder, at: Path): Draft[] {
  const text = takeText(remainder, ...at, 'text') ?? '';
  return [draft('assistant.reasoning', { text, ...ofModel(remainder, at) })];
}

function readTool(remainder: Remainder, at: Path): Draft[] {
  const name = takeText(remainder, ...at, 'tool');
  if (name === undefined) return [];
  const callId = takeText(remainder, ...at, 'callID');
  const state = [...at, 'state'];
  const status = peekText(remainder, ...state, 'status');
  const model = takeText(remainder, 'model');
  const call = draft('tool.call', { callId, name, input: take(remainder, ...state, 'input'), model });
  const subagent = name === 'task' ? takeText(remainder, ...state, 'metadata', 'sessionId') : undefined;
  const link = subagent === undefined ? [] : [draft('subagent.started', { subagent, callId })];
  if (status === 'pending' || status === 'running' || status === undefined) return [call, ...link];
  const error = status === 'error' ? take(remainder, ...state, 'error') : undefined;
  const output = error ?? take(remainder, ...state, 'output');
  const exitCode = takeInteger(remainder, ...state, 'metadata', 'exit');
  // A call of a tool that does not exist, or with wrong arguments, is put down as one of this tool.
  const isError = status === 'error' || name === 'invalid' || (exitCode ?? 0) !== 0 || undefined;
  const detail = take(remainder, ...state, 'metadata');
  return [call, ...link, draft('tool.result', { callId, output, isError, exitCode, detail })];
}

/** A response of the model is over. The message tells only the tokens of its last one. */
function readStepFinish(remainder: Remainder, at: Path, role: Role): Draft[] {
  const count = (...path: Path) => takeInteger(remainder, ...at, 'tokens', ...path);
  const counts = {
    inputTokens: count('input'),
    outputTokens: count('output'),
    reasoningTokens: count('reasoning'),
    cacheReadTokens: count('cache', 'read'),
    cacheWriteTokens: count('cache', 'write'),
    totalTokens: count('total'),
  };
  const isCounted = Object.values(counts).some((value) => value !== undefined);
  const responseId = peekText(remainder, ...at.slice(0, 1), 'id');
  const model = isCounted ? takeText(remainder, 'model') : undefined;
  const usage = isCounted ? [draft('usage', { responseId, model, ...counts, cached: 'excluded' })] : [];
  const isTurn = role === 'assistant' && !GOES_ON.has(peekText(remainder, ...at, 'reason'));
  return isTurn ? [...usage, draft('turn.finished', { reason: takeText(remainder, ...at, 'reason') })] : usage;
}

/** Why a response ends that another one follows. */
const GOES_ON: ReadonlySet<unknown> = new Set(['tool-calls', 'unknown', undefined]);

function readRetry(remainder: Remainder, at: Path): Draft[] {
  const text = takeFirstText(remainder, [...at, 'error', 'data', 'message'], [...at, 'error', 'message']);
  return [draft('error', { text, kind: 'retry' })];
}

const ofModel = (remainder: Remainder, at: Path) => ({
  model: takeText(remainder, 'model'),
  messageId: MESSAGE_ID.map((name) => peekText(remainder, ...at.slice(0, 1), name)).find((id) => id !== undefined),
});

const MESSAGE_ID = ['message_id', 'messageID'];
