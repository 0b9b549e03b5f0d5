import type { RecordPlace } from '../agent.ts';
import type { Dialect } from '../cline/parse.ts';
import { type Draft, draft } from '../compose.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { lengthAt, peekText, takeFirstText, takeInteger, takeText } from '../typed.ts';

/** What a person saw, told by what was said or asked. */
export interface Shown {
  kind: string;
  place: RecordPlace;
  cached: Dialect['cached'];
}

export function kindOf(remainder: Remainder): string | undefined {
  const type = peekText(remainder, 'type');
  return type === 'say' || type === 'ask' ? peekText(remainder, type) : undefined;
}

export function readShown(remainder: Remainder, shown: Shown): Draft[] {
  const { kind, place } = shown;
  // The first text of a task is the prompt.
  const isPrompt = kind === 'text' && place.position === 0;
  const read = isPrompt ? readPrompt : (KINDS.get(kind) ?? readNotice);
  const drafts = read(remainder, shown);
  if (drafts.some(({ fields }) => 'model' in fields)) take(remainder, 'modelInfo', 'modelId');
  return drafts.length > 0 ? drafts : [draft('record', { kind })];
}

type Reader = (remainder: Remainder, shown: Shown) => Draft[];

const TEXT: Path = ['text'];

const modelOf = (remainder: Remainder) => peekText(remainder, 'modelInfo', 'modelId');

/** The first of the texts that says something. */
function takeWords(remainder: Remainder, ...paths: Path[]): string | undefined {
  const path = paths.find((path) => peekText(remainder, ...path));
  return path && takeText(remainder, ...path);
}

function readPrompt(remainder: Remainder): Draft[] {
  return [
    draft('user.message', { text: takeText(remainder, 'text'), images: lengthAt(remainder, 'images') || undefined }),
  ];
}

function readAnswer(remainder: Remainder): Draft[] {
  const text = takeWords(remainder, TEXT, ['text', 'question'], ['text', 'response']);
  return text === undefined ? [] : [draft('assistant.message', { text, model: modelOf(remainder) })];
}

function readThought(remainder: Remainder): Draft[] {
  const text = takeFirstText(remainder, TEXT, ['reasoning']);
  return text === undefined ? [] : [draft('assistant.reasoning', { text, model: modelOf(remainder) })];
}

/** The name of a tool stands in its text, next to what it was given. */
const readCall =
  (...names: Path[]): Reader =>
  (remainder, { kind }) => {
    const name = takeFirstText(remainder, ...names) ?? kind;
    return [draft('tool.call', { name, input: take(remainder, 'text'), model: modelOf(remainder) })];
  };

const readResult =
  (name: string): Reader =>
  (remainder) => {
    const output = take(remainder, 'text');
    return output === undefined ? [] : [draft('tool.result', { name, output })];
  };

function readError(remainder: Remainder, { kind }: Shown): Draft[] {
  return [draft('error', { text: takeFirstText(remainder, TEXT, ['text', 'message']), kind })];
}

function readNotice(remainder: Remainder, { kind }: Shown): Draft[] {
  const text = takeWords(remainder, TEXT);
  return text === undefined ? [] : [draft('notice', { text, kind })];
}

function readEdit(remainder: Remainder, { kind }: Shown): Draft[] {
  return [draft('context.message', { text: takeFirstText(remainder, ['text', 'diff'], TEXT), kind })];
}

function readCompaction(remainder: Remainder): Draft[] {
  const summary = takeFirstText(remainder, ['contextCondense', 'summary'], TEXT);
  const tokensBefore =
    takeInteger(remainder, 'contextCondense', 'prevContextTokens') ??
    takeInteger(remainder, 'contextTruncation', 'prevContextTokens');
  return summary === undefined && tokensBefore === undefined ? [] : [draft('compaction', { summary, tokensBefore })];
}

/** Written when a request is sent, and again with its tokens when the answer is complete, or with why it is not. */
function readRequest(remainder: Remainder, { cached }: Shown): Draft[] {
  const count = (key: string) => takeInteger(remainder, 'text', key);
  const counts = {
    inputTokens: count('tokensIn'),
    outputTokens: count('tokensOut'),
    cacheReadTokens: count('cacheReads'),
    cacheWriteTokens: count('cacheWrites'),
  };
  const drafts: Draft[] = [];
  if (Object.values(counts).some((value) => value !== undefined)) {
    const time = peek(remainder, 'ts');
    const responseId = typeof time === 'number' ? String(time) : undefined;
    drafts.push(draft('usage', { responseId, model: modelOf(remainder), ...counts, cached }));
  }
  const text = takeWords(remainder, ['text', 'streamingFailedMessage']);
  if (text !== undefined) drafts.push(draft('error', { text, kind: 'api_req_started' }));
  const reason = takeText(remainder, 'text', 'cancelReason');
  if (reason !== undefined) drafts.push(draft('turn.finished', { reason }));
  return drafts;
}

const quiet: Reader = () => [];

const ERRORS = [
  ...['error', 'error_retry', 'api_req_failed', 'mistake_limit_reached', 'diff_error', 'clineignore_error'],
  ...['rooignore_error', 'condense_context_error', 'command_permission_denied'],
];

/** Kinds that say nothing a reader of the session asks for, or what another record says. */
const QUIET = [
  ...['api_req_finished', 'deleted_api_reqs', 'checkpoint_created', 'checkpoint_saved', 'resume_task'],
  ...['resume_completed_task', 'mcp_server_request_started', 'browser_session_status'],
];

/** Kinds that are missing here are notices. */
const KINDS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['task', readPrompt],
  ['user_feedback', readPrompt],
  ['user_feedback_diff', readEdit],
  ['text', readAnswer],
  ['completion_result', readAnswer],
  ['followup', readAnswer],
  ['plan_mode_respond', readAnswer],
  ['act_mode_respond', readAnswer],
  ['reasoning', readThought],
  ['tool', readCall(['text', 'tool'])],
  ['command', readCall()],
  ['command_output', readResult('command')],
  ['use_mcp_server', readCall(['text', 'toolName'], ['text', 'type'])],
  ['mcp_server_response', readResult('use_mcp_server')],
  ['browser_action_launch', readCall()],
  ['browser_action', readCall(['text', 'action'])],
  ['browser_action_result', readResult('browser_action')],
  ['new_task', readCall()],
  ['use_subagents', readCall()],
  ['subtask_result', readResult('new_task')],
  ['codebase_search_result', readResult('codebaseSearch')],
  ['condense', readCompaction],
  ['summarize_task', readCompaction],
  ['condense_context', readCompaction],
  ['sliding_window_truncation', readCompaction],
  ['api_req_started', readRequest],
  ['subagent_usage', readRequest],
  ...ERRORS.map((kind): [string, Reader] => [kind, readError]),
  ...QUIET.map((kind): [string, Reader] => [kind, quiet]),
]);
