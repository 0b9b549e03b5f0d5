import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { JsonObject, RecordPlace } from '../agent.ts';
import {
  compose,
  context,
  type Draft,
  draft,
  event,
  facts,
  fields,
  notice,
  type Reader,
  usage,
} from '../shared/events.ts';
import { countImages, readContext, takeSaid, textsAt } from '../shared/messages.ts';
import {
  at,
  elementsAt,
  type Part,
  partOf,
  peek,
  peekText,
  peekWords,
  takeSame,
  takeText,
  takeWords,
} from '../shared/part.ts';

export function parse(record: JsonObject, filePlace: RecordPlace): CapturedEvent[] {
  const part = partOf(record);
  const place = withSubagent(part, filePlace);
  const type = peekText(part, 'type') ?? '';
  const subtype = peekText(part, 'subtype') ?? '';
  const read = type === 'system' ? SYSTEM_READERS.get(subtype) : READERS.get(type);
  const drafts = read?.(part, place) ?? [];
  if (peek(part, 'parentUuid') === null) drafts.push(...readRoot(part));
  takeSame(part, 'sessionId', place.origin.session);
  takeSame(part, 'agentId', place.origin.subagent);
  const envelope = {
    agent: 'qwen-code',
    agentVersion: takeText(part, 'version'),
    record: takeText(part, 'uuid'),
    parent: takeText(part, 'parentUuid'),
    occurredAt: takeText(part, 'timestamp'),
  } as const;
  return compose(part, place, envelope, drafts, subtype || type || undefined);
}

/** Old versions kept the records of sub-agents among those of the session. */
function withSubagent(part: Part, place: RecordPlace): RecordPlace {
  const subagent = place.origin.subagent ?? peekWords(part, 'agentId');
  return subagent === undefined ? place : { ...place, origin: { ...place.origin, subagent } };
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['user', readUser],
  ['assistant', readAssistant],
  ['tool_result', readToolResult],
]);

/** What the program did or noted, by `subtype`. */
const SYSTEM_READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['ui_telemetry', (part) => readTelemetry(at(part, 'systemPayload.uiEvent'))],
  ['custom_title', readTitle],
  // The history as it is from here on is left in `rest`.
  [
    'chat_compression',
    event('compaction', {
      trigger: 'systemPayload.info.triggerReason',
      tokensBefore: 'systemPayload.info.originalTokenCount',
    }),
  ],
  ['session_model', facts({ model: 'systemPayload.model' })],
  ['session_approval_mode', facts({})],
  ['parent_session', facts({ forkedFrom: 'systemPayload.parentSessionId' })],
  ['slash_command', notice('slash_command', 'systemPayload.rawCommand')],
  ['notification', notice('notification', 'systemPayload.displayText')],
  ['rewind', notice('rewind')],
  ['at_command', context('at_command')],
  ['agent_bootstrap', context('agent_bootstrap')],
  ['agent_launch_prompt', context('agent_launch_prompt', 'systemPayload.prompt')],
]);

function readTitle(part: Part): Draft[] {
  const titleBy = peekText(part, 'systemPayload.titleSource') === 'auto' ? 'agent' : 'person';
  return facts({ title: 'systemPayload.customTitle' }, titleBy)(part);
}

/** The first record of a chain says where the work goes on; every later one repeats it, and is not asked. */
function readRoot(part: Part): Draft[] {
  const cwd = takeText(part, 'cwd');
  const branch = takeWords(part, 'gitBranch');
  const forkedFrom = takeText(part, 'forkedFrom.sessionId', 'forkedFrom');
  const isSaid = [cwd, branch, forkedFrom].some((fact) => fact !== undefined);
  return isSaid ? [draft('session.meta', { cwd, branch, forkedFrom })] : [];
}

function readUser(part: Part, place: RecordPlace): Draft[] {
  const kind = injectedKind(part, place);
  const texts = textsAt(part, 'message.parts');
  const drafts = kind === undefined ? readPrompt(part, texts) : readContext(texts, kind);
  const hook = takeText(part, 'systemPayload.hookContext');
  if (hook !== undefined) drafts.push(draft('context.message', { text: hook, kind: 'hook_context' }));
  return drafts;
}

/** Why a user's record is no prompt; `undefined` if a person typed it. */
function injectedKind(part: Part, place: RecordPlace): string | undefined {
  if (place.origin.subagent !== undefined || peek(part, 'isSidechain') === true) return 'subagent-prompt';
  const provenance = peekWords(part, 'provenance');
  const subtype = peekWords(part, 'subtype');
  if (provenance !== undefined && provenance !== 'real_user') return subtype ?? provenance;
  // Typed while tools ran. All other kinds are of the program's making: ends of tasks, timers, goals.
  return subtype === 'mid_turn_user_message' || provenance === 'real_user' ? undefined : subtype;
}

/** What was typed is said apart where it is not what the model was sent; else it is the first part, before files. */
function readPrompt(part: Part, texts: Part[]): Draft[] {
  const isReminder = (text: Part) => peekText(text)?.trimStart().startsWith('<system-reminder>');
  const images = countImages(part, 'message.parts');
  const injected = texts.filter(isReminder);
  const [first, ...attached] = texts.filter((text) => !isReminder(text));
  const shown = peekWords(part, 'systemPayload.displayText');
  const isShown = shown === undefined || (first !== undefined && peekText(first) === shown);
  const text = isShown ? first && takeText(first) : takeText(part, 'systemPayload.displayText');
  // A record of nothing but reminders or images is still what the person sent.
  const prompt = text === undefined && !images ? [] : [draft('user.message', { text, images })];
  const sent = isShown || first === undefined ? [] : [first, ...attached];
  return [
    ...prompt,
    ...readContext(sent, 'transformed-prompt'),
    ...readContext(isShown ? attached : [], 'attached'),
    ...readContext(injected, 'system-reminder'),
  ];
}

const readText = fields('assistant.message', { text: 'text' });
const readThought = fields('assistant.reasoning', { text: 'text' });
const readCall = fields('tool.call', {
  callId: 'functionCall.id',
  name: 'functionCall.name',
  input: 'functionCall.args',
});
const readUsage = usage(
  {
    inputTokens: 'usageMetadata.promptTokenCount',
    outputTokens: 'usageMetadata.candidatesTokenCount',
    cacheReadTokens: 'usageMetadata.cachedContentTokenCount',
    reasoningTokens: 'usageMetadata.thoughtsTokenCount',
    totalTokens: 'usageMetadata.totalTokenCount',
  },
  'included',
);

/** One API response. It has no id but the record's. */
function readAssistant(part: Part): Draft[] {
  const model = peekText(part, 'model');
  // Nothing for a part of another kind: it is left where it is, and so in `rest`.
  const drafts = elementsAt(part, 'message.parts').flatMap((said) => {
    const call = readCall(said, { model });
    if (call.length > 0) return call;
    return peek(said, 'thought') === true ? readThought(said, { model }) : readText(said, { model });
  });
  drafts.push(...readUsage(part, { responseId: peekText(part, 'uuid'), model }));
  takeSaid(part, drafts, { model: 'model' });
  return drafts;
}

const readResponse = fields('tool.result', {
  callId: 'functionResponse.id',
  name: 'functionResponse.name',
  output: ['functionResponse.response.output', 'functionResponse.response.error', 'functionResponse.response'],
});
const readDetail = fields('tool.result', {
  exitCode: 'toolCallResult.resultDisplay.exitCode',
  detail: 'toolCallResult',
});

/** What tools answered, with the program's own copy of it where the record has one result. */
function readToolResult(part: Part): Draft[] {
  const responses = elementsAt(part, 'message.parts').filter((said) => peek(said, 'functionResponse') !== undefined);
  if (responses.length === 0 && peek(part, 'toolCallResult') !== undefined) {
    return readDetail(part, { callId: takeText(part, 'toolCallResult.callId') });
  }
  const hasDetail = responses.length === 1;
  return responses.flatMap((said) => {
    const hasFailed = hasDetail && peek(part, 'toolCallResult.status') === 'error';
    const isError = hasFailed || peek(said, 'functionResponse.response.error') !== undefined || undefined;
    const results = readResponse(said, { isError });
    return hasDetail ? results.map((result) => withDetail(result, part)) : results;
  });
}

const withDetail = (result: Draft, part: Part): Draft => ({
  ...result,
  fields: { ...result.fields, ...readDetail(part)[0]?.fields },
});

/** The log of requests, which old and new versions keep in the transcript. */
function readTelemetry(request: Part): Draft[] {
  const name = peekText(request, ['event.name'])?.replace('qwen-code.', '') ?? 'ui_telemetry';
  if (name === 'tool_call') return readToolEnd(request);
  if (name === 'api_error') {
    const kind = peekText(request, 'error_type') ?? name;
    return [draft('error', { text: takeText(request, 'error_message', 'error'), kind })];
  }
  return [draft('record', { kind: name === 'api_response' ? `duplicate:${name}` : 'ui_telemetry' })];
}

/** Stands before the result itself, to which its `callId` joins it. */
const readToolEnd = fields('tool.result', {
  callId: 'call_id',
  name: 'function_name',
  durationMs: 'duration_ms',
  detail: '',
});
