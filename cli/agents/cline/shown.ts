import type { RecordPlace } from '../agent.ts';
import { type Draft, draft, type Fields, type Readers, readerOf, shareText } from '../shared/events.ts';
import { elementsAt, type Part, peek, peekText, takeText, takeWords } from '../shared/part.ts';
import { event, fields, readersOf, usage } from '../shared/readers.ts';

/** Whether input tokens include the cached ones. */
export type Cached = Fields<'usage'>['cached'];

/** The person's view, by kinds of `say` and `ask`. */
export interface Shown {
  kind: string;
  place: RecordPlace;
  cached: Cached;
}

type ShownReader = (part: Part, shown: Shown) => Draft[];

export function kindOf(part: Part): string | undefined {
  const type = peekText(part, 'type');
  return type === 'say' || type === 'ask' ? peekText(part, type) : undefined;
}

export function readShown(part: Part, shown: Shown): Draft[] {
  const { kind, place } = shown;
  // The first text of a task is the prompt.
  const isPrompt = kind === 'text' && place.position === 0;
  const read = isPrompt ? readPrompt : (readerOf(KINDS, kind) ?? readNotice);
  const drafts = read(part, shown);
  shareText(part, drafts, { model: 'modelInfo.modelId' });
  return drafts.length > 0 ? drafts : [draft('record', { kind })];
}

function readPrompt(part: Part): Draft[] {
  return [
    draft('user.message', { text: takeText(part, 'text'), images: elementsAt(part, 'images').length || undefined }),
  ];
}

function readAnswer(part: Part): Draft[] {
  const text = takeWords(part, 'text', 'text.question', 'text.response');
  return text === undefined ? [] : [draft('assistant.message', { text })];
}

/** The text contains the tool's name next to its input. */
function readCall(...name: string[]): ShownReader {
  const read = fields('tool.call', { name, input: 'text' });
  return (part, { kind }) => read(part, { name: kind });
}

const results = fields('tool.result', { output: 'text' });

const readResult =
  (name: string): ShownReader =>
  (part) =>
    peek(part, 'text') === undefined ? [] : results(part, { name });

function readNotice(part: Part, { kind }: Shown): Draft[] {
  const text = takeWords(part, 'text');
  return text === undefined ? [] : [draft('notice', { text, kind })];
}

const edits = fields('context.message', { text: ['text.diff', 'text'] });

const summaries = event('compaction', {
  summary: ['contextCondense.summary', 'text'],
  tokensBefore: ['contextCondense.prevContextTokens', 'contextTruncation.prevContextTokens'],
});

function readCompaction(part: Part): Draft[] {
  return summaries(part).filter(({ fields }) => Object.keys(fields).length > 0);
}

const counts = usage({
  inputTokens: 'text.tokensIn',
  outputTokens: 'text.tokensOut',
  cacheReadTokens: 'text.cacheReads',
  cacheWriteTokens: 'text.cacheWrites',
});

/**
 * Written when a request is sent. Written again with its tokens when the answer is complete, or with the reason for the
 * failure.
 */
function readRequest(part: Part, { cached }: Shown): Draft[] {
  const time = peek(part, 'ts');
  const responseId = typeof time === 'number' ? String(time) : undefined;
  const drafts = counts(part, { responseId, cached });
  const text = takeWords(part, 'text.streamingFailedMessage');
  if (text !== undefined) drafts.push(draft('error', { text, kind: 'api_req_started' }));
  const reason = takeText(part, 'text.cancelReason');
  if (reason !== undefined) drafts.push(draft('turn.finished', { reason }));
  return drafts;
}

const COMPACTIONS = ['condense', 'summarize_task', 'condense_context', 'sliding_window_truncation'];

const ERRORS = [
  ...['error', 'error_retry', 'api_req_failed', 'mistake_limit_reached', 'diff_error', 'clineignore_error'],
  ...['rooignore_error', 'condense_context_error', 'command_permission_denied'],
];

/** Kinds that no reader of the session needs, or that repeat another record. */
const QUIET = [
  ...['api_req_finished', 'deleted_api_reqs', 'checkpoint_created', 'checkpoint_saved', 'resume_task'],
  ...['resume_completed_task', 'mcp_server_request_started', 'browser_session_status'],
];

/** Kinds that are missing here are notices. */
const KINDS: Readers<ShownReader> = {
  ...readersOf(['task', 'user_feedback'], () => readPrompt),
  user_feedback_diff: (part, { kind }) => edits(part, { kind }),
  ...readersOf(['text', 'completion_result', 'followup', 'plan_mode_respond', 'act_mode_respond'], () => readAnswer),
  reasoning: event('assistant.reasoning', { text: ['text', 'reasoning'] }),
  tool: readCall('text.tool'),
  command: readCall(),
  command_output: readResult('command'),
  use_mcp_server: readCall('text.toolName', 'text.type'),
  mcp_server_response: readResult('use_mcp_server'),
  browser_action_launch: readCall(),
  browser_action: readCall('text.action'),
  browser_action_result: readResult('browser_action'),
  new_task: readCall(),
  use_subagents: readCall(),
  subtask_result: readResult('new_task'),
  codebase_search_result: readResult('codebaseSearch'),
  ...readersOf(COMPACTIONS, () => readCompaction),
  ...readersOf(['api_req_started', 'subagent_usage'], () => readRequest),
  ...readersOf(ERRORS, (kind) => event('error', { text: ['text', 'text.message'] }, { kind })),
  ...readersOf(QUIET, () => () => []),
};
