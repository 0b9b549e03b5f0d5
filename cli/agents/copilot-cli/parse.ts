import type { RecordPlace } from '../agent.ts';
import { type Draft, draft, type Readers } from '../shared/events.ts';
import { countImages } from '../shared/messages.ts';
import { parser } from '../shared/parser.ts';
import { at, elementsAt, isObject, type Part, peek, peekText, peekWords, takeText } from '../shared/part.ts';
import { context, event, eventOfKind, facts, fields, notice, quiet, readersOf, usage } from '../shared/readers.ts';
import { nameCall } from '../shared/responses.ts';

const readPlace = (at: string) =>
  facts({
    cwd: `${at}.cwd`,
    repository: `${at}.repository`,
    branch: `${at}.branch`,
    commit: `${at}.headCommit`,
    model: 'data.selectedModel',
  });

/** Messages for the person. */
const NOTICES = [
  ...['subagent.selected', 'subagent.deselected', 'session.info', 'session.warning', 'session.task_complete'],
  ...['session.plan_changed', 'session.workspace_file_changed', 'session.compaction_start', 'session.truncation'],
  ...['session.snapshot_rewind', 'session.handoff', 'skill.invoked', 'permission.requested', 'permission.completed'],
  ...['user_input.requested', 'user_input.completed', 'elicitation.requested', 'elicitation.completed'],
  ...['command.queued', 'command.execute', 'command.completed', 'exit_plan_mode.requested', 'exit_plan_mode.completed'],
];

/** Where notices have their text. */
const TEXTS = [
  ...[
    'agentDisplayName',
    'agentName',
    'message',
    'summary',
    'name',
    'question',
    'answer',
    'action',
    'operation',
    'path',
  ],
  ...['permissionRequest.fullCommandText', 'permissionRequest.intention', 'result.kind', 'command'],
].map((path) => `data.${path}`);

const READERS: Readers = {
  'session.start': readPlace('data.context'),
  'session.resume': readPlace('data.context'),
  'session.context_changed': readPlace('data'),
  'session.title_changed': facts({ title: 'data.title' }, 'agent'),
  'session.model_change': facts({ model: 'data.newModel' }),
  'session.auto_mode_resolved': facts({ model: 'data.chosenModel' }),
  ...readersOf(['session.mode_changed', 'session.permissions_changed', 'session.remote_steerable_changed'], () =>
    facts({}),
  ),
  'session.compaction_complete': readCompaction,
  'session.error': eventOfKind('error', 'data.message', ['data.errorType'], 'session.error'),
  'session.shutdown': readShutdown,
  abort: event('turn.finished', { reason: 'data.reason' }),
  'user.message': readUser,
  'assistant.message': readAssistant,
  'assistant.reasoning': event('assistant.reasoning', { text: 'data.content', messageId: 'data.reasoningId' }),
  'system.message': context('system', 'data.content'),
  'system.notification': eventOfKind('context.message', 'data.content', ['data.kind.type'], 'notification'),
  // Every call is also in the response that made it: 165 of 165 in real sessions.
  'tool.execution_start': quiet('duplicate:tool.execution_start'),
  'tool.execution_complete': readResult,
  // A tool that the person ran, without the model.
  'tool.user_requested': event('tool.call', {
    callId: 'data.toolCallId',
    name: 'data.toolName',
    input: 'data.arguments',
  }),
  'session.usage_record': (part) => readCallUsage(at(part, 'data.usage')),
  'assistant.usage': (part) => readCallUsage(at(part, 'data')),
  'subagent.started': (part) => readStart(part, byCall(part)),
  'subagent.completed': (part) => readFinish(part, byCall(part)),
  'subagent.failed': (part) => readFinish(part, byCall(part)),
  'hook.end': readHookEnd,
  ...readersOf(NOTICES, (kind) => notice(kind, ...TEXTS)),
};

export const parse = parser({
  agent: 'copilot-cli',
  readers: READERS,
  placeOf: withSubagent,
  envelope: { agentVersion: 'data.copilotVersion', record: 'id', parent: 'parentId', occurredAt: 'timestamp' },
  origin: { 'data.sessionId': 'session' },
  shared: { model: 'data.model', messageId: 'data.messageId' },
});

/**
 * The place of a sub-agent's record. The record names the sub-agent, or else the call that started it. The record of the
 * start belongs to the parent.
 */
function withSubagent(part: Part, place: RecordPlace): RecordPlace {
  if (peekText(part, 'type')?.startsWith('subagent.')) return place;
  const subagent = takeText(part, 'agentId', 'data.parentToolCallId');
  return subagent === undefined ? place : { ...place, origin: { ...place.origin, subagent } };
}

const readSummary = event('compaction', { summary: 'data.summaryContent', tokensBefore: 'data.preCompactionTokens' });

/** A failed compaction replaced nothing. */
function readCompaction(part: Part): Draft[] {
  const error = takeText(part, 'data.error', 'data.error.message');
  return error === undefined ? readSummary(part) : [draft('error', { text: error, kind: 'compaction' })];
}

function readShutdown(part: Part, place: RecordPlace): Draft[] {
  const kind = 'session.shutdown';
  const reason = takeText(part, 'data.errorReason');
  const end = reason === undefined ? draft('notice', { kind }) : draft('error', { text: reason, kind });
  return [end, ...readTotals(part, place.origin.session)];
}

function readUser(part: Part, place: RecordPlace): Draft[] {
  const kind = injectedKind(part, place);
  const images = countImages(part, 'data.attachments');
  const text = takeText(part, 'data.content');
  const message =
    kind === undefined ? draft('user.message', { text, images }) : draft('context.message', { text, kind });
  // The text that was sent to the model, with the program's additions.
  const isSentAsTyped = peekText(part, 'data.transformedContent') === text;
  const sent = isSentAsTyped ? undefined : takeText(part, 'data.transformedContent');
  return sent ? [message, draft('context.message', { text: sent, kind: 'transformed-prompt' })] : [message];
}

/** Why a user message is not a prompt. `undefined` if a person typed it. */
function injectedKind(part: Part, place: RecordPlace): string | undefined {
  const source = peekWords(part, 'data.source');
  if (source !== undefined && source !== 'user') return source;
  if (place.origin.subagent !== undefined) return 'subagent-prompt';
  return peekText(part, 'data.content')?.startsWith('<skill-context') ? 'skill' : undefined;
}

const readThought = fields('assistant.reasoning', { text: 'data.reasoningText' });
const readAnswer = fields('assistant.message', { text: 'data.content' });
const readCall = fields('tool.call', { callId: 'toolCallId', name: 'name', input: 'arguments' });
const readOutputTokens = usage({ outputTokens: 'data.outputTokens' }, 'included');

function readAssistant(part: Part): Draft[] {
  // A response that only calls tools has an empty text.
  const isSilent = elementsAt(part, 'data.toolRequests').length > 0 && !peekWords(part, 'data.content');
  return [
    ...readThought(part),
    ...(isSilent ? [] : readAnswer(part)),
    ...elementsAt(part, 'data.toolRequests').flatMap((call) => readCall(call)),
    // The call's own record, if there is one, has the same id.
    ...readOutputTokens(part, { responseId: nameCall(part) }),
  ];
}

const readEnd = fields('tool.result', {
  callId: 'data.toolCallId',
  name: 'data.toolName',
  exitCode: 'data.shellExecution.exitCode',
  durationMs: 'data.toolTelemetry.metrics.durationMs',
  detail: 'data.result',
});

function readResult(part: Part): Draft[] {
  const output = takeText(part, 'data.result.content', 'data.error.message', 'data.result');
  return readEnd(part, { output, isError: peek(part, 'data.success') === false || undefined });
}

/** A sub-agent without an id of its own is identified by the call that started it. */
const SUBAGENT = { subagent: 'agentId', callId: 'data.toolCallId' };
const readStart = fields('subagent.started', {
  ...SUBAGENT,
  agentType: 'data.agentName',
  description: ['data.agentDescription', 'data.agentDisplayName'],
});
const readFinish = fields('subagent.finished', { ...SUBAGENT, result: 'data.error' });
const byCall = (part: Part) => ({ subagent: peekText(part, 'data.toolCallId') });

/** Most hooks only listen, including ours. Texts that other hooks add for the model, and their errors, are shown. */
function readHookEnd(part: Part): Draft[] {
  const text = takeText(part, 'data.output.additionalContext');
  if (text !== undefined) return [draft('context.message', { text, kind: 'hook_additional_context' })];
  const error = takeText(part, 'data.error.message', 'data.error');
  const hasFailed = error !== undefined || peek(part, 'data.success') === false;
  return [hasFailed ? draft('notice', { text: error, kind: 'hook_error' }) : draft('record', { kind: 'hook.end' })];
}

const INPUTS = {
  inputTokens: 'inputTokens',
  cacheReadTokens: 'cacheReadTokens',
  cacheWriteTokens: 'cacheWriteTokens',
  reasoningTokens: 'reasoningTokens',
};

/**
 * Since about 1.0.9x, every model call has a record of its own. Before, a message has its output tokens, and totals at the
 * end have the rest. Input tokens include cached ones.
 */
const readCallUsage = usage(
  { ...INPUTS, responseId: 'apiCallId', model: 'model', outputTokens: 'outputTokens' },
  'included',
);
const readInputs = usage(INPUTS, 'included');

/**
 * The totals at the end, by model, for sessions without a record per call. They exclude the output tokens, which the messages
 * have. A resumed session repeats them with higher values. Totals with the same start belong to the same count.
 */
function readTotals(part: Part, session: string): Draft[] {
  const metrics = peek(part, 'data.modelMetrics');
  if (peek(part, 'data.accountingSnapshot') !== undefined || !isObject(metrics)) return [];
  const started = peek(part, 'data.sessionStartTime');
  return Object.keys(metrics).flatMap((model) => {
    const responseId = [session, typeof started === 'number' ? started : '', model].join(' ');
    return readInputs(at(part, ['data', 'modelMetrics', model, 'usage']), { responseId, model });
  });
}
