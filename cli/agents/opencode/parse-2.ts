import type { RecordPlace } from '../agent.ts';
import { type Draft, draft, type Readers, readerOf, shareText } from '../shared/events.ts';
import { elementsAt, type Part, peek, peekText, peekWords, takeText, takeWords } from '../shared/part.ts';
import { context, event, fields, quiet, usage } from '../shared/readers.ts';

/** Readers of the messages of version 2, by their type. */

export const readMessageOf2 = (content: Part, type: string, place: RecordPlace): Draft[] => {
  const drafts = readerOf(MESSAGES, type)?.(content, place) ?? [];
  return drafts.length > 0 ? drafts : [draft('record', { kind: type || undefined })];
};

const MESSAGES: Readers = {
  user: readPrompt,
  assistant: readAnswer,
  system: context('system', 'text'),
  synthetic: context('synthetic', 'text'),
  skill: context('skill', 'text'),
  shell: readShell,
  compaction: readCompaction,
  'model-switched': event('session.meta', { model: 'model.id' }),
  'location-switched': event('session.meta', { cwd: 'location.directory' }),
  'agent-switched': quiet('agent-switched'),
  // The answer before it says how the turn ended.
  idle: quiet('idle'),
};

function readPrompt(content: Part, { origin }: RecordPlace): Draft[] {
  const text = takeText(content, 'text');
  if (origin.subagent !== undefined) return [draft('context.message', { text, kind: 'subagent-prompt' })];
  const isImage = (file: Part) => peekText(file, 'mime')?.startsWith('image/') ?? false;
  const images = elementsAt(content, 'files').filter(isImage).length || undefined;
  return [draft('user.message', { text, images })];
}

/** One response of the model: its texts, thoughts and calls, and the results of the calls. */
function readAnswer(content: Part): Draft[] {
  const said = elementsAt(content, 'content').flatMap(
    (element) => readerOf(ELEMENTS, peekText(element, 'type') ?? '')?.(element) ?? [],
  );
  const drafts = [...said, ...readTokens(content), ...readRetry(content), ...readEnd(content)];
  shareText(content, drafts, { model: 'model.id' });
  return drafts;
}

const ELEMENTS: { readonly [type: string]: (element: Part) => Draft[] } = {
  // A text that has begun is empty.
  text: (element) =>
    peekWords(element, 'text') ? [draft('assistant.message', { text: takeWords(element, 'text') ?? '' })] : [],
  reasoning: event('assistant.reasoning', { text: 'text' }),
  tool: readTool,
};

const readCall = fields('tool.call', { callId: 'id', name: 'name', input: 'state.input' });
const readResult = fields('tool.result', {
  output: ['state.content', 'state.output', 'state.error.message'],
  exitCode: 'state.metadata.exit',
  detail: ['state.metadata', 'state.structured'],
});

function readTool(element: Part): Draft[] {
  const [call] = readCall(element);
  if (call === undefined) return [];
  const { callId } = call.fields as { callId?: string };
  const subagent = SUBAGENT_TOOLS.has(call.fields.name) ? takeWords(element, ...SUBAGENT_AT) : undefined;
  const link = subagent === undefined ? [] : [draft('subagent.started', { subagent, callId })];
  const status = peekText(element, 'state.status');
  if (status !== 'completed' && status !== 'error') return [call, ...link];
  const exitCode = peek(element, 'state.metadata.exit');
  const hasFailed = Number.isInteger(exitCode) && exitCode !== 0;
  return [call, ...link, ...readResult(element, { callId, isError: status === 'error' || hasFailed || undefined })];
}

/** Calls copied from version 1 keep the tool's old name. */
const SUBAGENT_TOOLS: ReadonlySet<unknown> = new Set(['subagent', 'task']);
const SUBAGENT_AT = ['state.metadata.sessionID', 'state.metadata.sessionId', 'state.structured.sessionID'] as const;

const TOKENS = {
  inputTokens: 'tokens.input',
  outputTokens: 'tokens.output',
  reasoningTokens: 'tokens.reasoning',
  cacheReadTokens: 'tokens.cache.read',
  cacheWriteTokens: 'tokens.cache.write',
};

const readCounts = usage({ ...TOKENS, totalTokens: 'tokens.total' }, 'excluded');

/** The output lacks the thinking, which a reader sees from the total. Only some versions of 1 store a total. */
export function readTokens(part: Part, purpose?: string): Draft[] {
  const counts = Object.values(TOKENS).map((where) => peek(part, where));
  const total = counts.reduce((sum: number, count) => sum + (typeof count === 'number' ? count : 0), 0);
  return readCounts(part, { totalTokens: Number.isSafeInteger(total) ? total : undefined, purpose });
}

/** The response is tried again. */
const readRetry = (content: Part): Draft[] =>
  peek(content, 'retry') === undefined
    ? []
    : [draft('error', { text: takeText(content, 'retry.error.message'), kind: 'retry' })];

/** The response failed, was interrupted, or ended the turn. */
function readEnd(content: Part): Draft[] {
  if (peek(content, 'error') !== undefined) {
    const kind = takeText(content, 'error.type');
    if (kind === 'aborted') return [draft('turn.finished', { reason: kind })];
    return [draft('error', { text: takeText(content, 'error.message'), kind })];
  }
  if (GOES_ON.has(peekText(content, 'finish'))) return [];
  return [draft('turn.finished', { reason: takeText(content, 'finish') })];
}

/** Reasons for which a response ends and another one follows. */
export const GOES_ON: ReadonlySet<unknown> = new Set(['tool-calls', 'unknown', undefined]);

const readCommand = fields('tool.call', { callId: 'shellID', input: 'command' });
const readOutput = fields('tool.result', { output: 'output.output', exitCode: 'exit' });

/** A command that the person ran. */
function readShell(content: Part): Draft[] {
  const [call] = readCommand(content, { name: 'shell' });
  if (call === undefined) return [];
  const { callId } = call.fields as { callId?: string };
  const status = peekText(content, 'status');
  if (status === 'running') return [call];
  const exitCode = peek(content, 'exit');
  const hasFailed = status !== 'exited' || (Number.isInteger(exitCode) && exitCode !== 0);
  return [call, ...readOutput(content, { callId, isError: hasFailed || undefined })];
}

function readCompaction(content: Part): Draft[] {
  const status = peekText(content, 'status');
  if (status === 'running') return [];
  const said =
    status === 'failed'
      ? [draft('error', { text: takeText(content, 'error.message'), kind: 'compaction' })]
      : [draft('compaction', { summary: takeWords(content, 'summary'), trigger: takeText(content, 'reason') })];
  const drafts = [...said, ...readTokens(content, 'compaction')];
  shareText(content, drafts, { model: 'model.id' });
  return drafts;
}
