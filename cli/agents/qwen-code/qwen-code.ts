import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { CHAINED } from '../claude-code/parse.ts';
import { type Draft, draft } from '../shared/events.ts';
import { headerOf, isUuid, keyOf, stemOf, toOrigin } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { readContext, readPrompt, textsAt } from '../shared/messages.ts';
import { parser } from '../shared/parser.ts';
import { at, elementsAt, type Part, partOf, peek, peekText, peekWords, takeText } from '../shared/part.ts';
import { context, event, facts, fields, notice, usage } from '../shared/readers.ts';

/**
 * Qwen Code writes a file per session, a record per line, append-only; `uuid` and `parentUuid` chain the records, and
 * messages have parts as Gemini's do. For facts in two records, this table shows which of them the event is made from:
 *
 * | fact        | the event is made from            | the other becomes                                     |
 * | ----------- | --------------------------------- | ----------------------------------------------------- |
 * | prompt      | `user`: as typed, `displayText`   | `context.message`: the same as it was sent to the model |
 * | answer      | `assistant`                       | `record`, kind `duplicate:api_response`               |
 * | usage       | `assistant`                       | `record`, kind `duplicate:api_response`               |
 * | tool result | `tool_result`                     | `tool.result` with the duration, same `callId`        |
 */
export const qwenCode: Agent = {
  id: 'qwen-code',
  displayName: 'Qwen Code',
  programs: ['qwen'],
  ...locate({
    folder: '.qwen',
    movedBy: 'QWEN_HOME',
    roots: ['projects'],
    rootsMovedBy: 'QWEN_RUNTIME_DIR',
    credentials: ['oauth_creds.json', 'settings.json'],
  }),
  isTranscript: (path) => /(^|\/)(chats|subagents)\/.*\.jsonl$/.test(path),
  namesSession: ({ sessionId }, path) => typeof sessionId === 'string' || isUuid(stemOf(path)),
  identify,
  sessionOf: (record) => peekWords(partOf(record), 'forkedFrom.sessionId', 'sessionId'),
  plainRecords: ['attribution_snapshot', 'session_artifact_snapshot', 'ui_telemetry'],
  recordKey: (record) => keyOf(record, 'uuid'),
  restored: {
    stamp: (record, { origin: { session, subagent } }, version) => ({
      ...record,
      ...(!('sessionId' in record) && { sessionId: session }),
      ...(version !== undefined && !('version' in record) && { version }),
      ...(subagent !== undefined && !('agentId' in record) && { agentId: subagent }),
    }),
    places: () => [
      'systemPayload.uiEvent',
      ...[
        ...['text', 'functionCall.name', 'functionCall.args', 'functionCall.id'],
        ...['functionResponse.id', 'functionResponse.name', 'functionResponse.response.output'],
      ].map((place) => `message.parts.*.${place}`),
    ],
  },
  parse: parser({
    ...CHAINED,
    agent: 'qwen-code',
    placeOf: withSubagent,
    // `subtype` names an action or a note of the program.
    kindOf: (part) => peekWords(part, ...(peek(part, 'type') === 'system' ? ['subtype', 'type'] : ['type'])) ?? '',
    readers: {
      user: readUser,
      assistant: readAssistant,
      tool_result: readToolResult,
      ui_telemetry: (part) => readTelemetry(at(part, 'systemPayload.uiEvent')),
      custom_title: readTitle,
      // The history that applies from here on stays in `rest`.
      chat_compression: event('compaction', {
        trigger: 'systemPayload.info.triggerReason',
        tokensBefore: 'systemPayload.info.originalTokenCount',
      }),
      session_model: facts({ model: 'systemPayload.model' }),
      session_approval_mode: facts({}),
      parent_session: facts({ forkedFrom: 'systemPayload.parentSessionId' }),
      slash_command: notice('slash_command', 'systemPayload.rawCommand'),
      notification: notice('notification', 'systemPayload.displayText'),
      rewind: notice('rewind'),
      at_command: context('at_command'),
      agent_bootstrap: context('agent_bootstrap'),
      agent_launch_prompt: context('agent_launch_prompt', 'systemPayload.prompt'),
    },
    shared: { model: 'model' },
  }),
};

/** `<project>/chats/<session>.jsonl`; for sub-agents `<project>/subagents/<session>/agent-<id>.jsonl`. */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const record = headerOf(first);
  const stem = stemOf(path);
  const named = isUuid(stem) ? stem : undefined;
  return toOrigin({
    session: named ?? peekWords(record, 'sessionId') ?? stem,
    subagent: /^agent-(.+)$/.exec(stem)?.[1] ?? (named ? undefined : peekWords(record, 'agentId')),
    agentVersion: peekWords(record, 'version'),
    cwd: peekWords(record, 'cwd'),
    branch: peekWords(record, 'gitBranch'),
    forkedFrom: peekWords(record, 'forkedFrom.sessionId', 'forkedFrom'),
  });
}

/** Old versions mixed the sub-agents' records with the session's. */
function withSubagent(part: Part, place: RecordPlace): RecordPlace {
  const subagent = place.origin.subagent ?? peekWords(part, 'agentId');
  return subagent === undefined ? place : { ...place, origin: { ...place.origin, subagent } };
}

function readTitle(part: Part): Draft[] {
  const titleBy = peekText(part, 'systemPayload.titleSource') === 'auto' ? 'agent' : 'person';
  return facts({ title: 'systemPayload.customTitle' }, titleBy)(part);
}

function readUser(part: Part, place: RecordPlace): Draft[] {
  const kind = injectedKind(part, place);
  const drafts = kind === undefined ? readPrompt(part, PROMPT) : readContext(textsAt(part, 'message.parts'), kind);
  const hook = takeText(part, 'systemPayload.hookContext');
  if (hook !== undefined) drafts.push(draft('context.message', { text: hook, kind: 'hook_context' }));
  return drafts;
}

/** Why a user record is not a prompt. `undefined` if a person typed it. */
function injectedKind(part: Part, place: RecordPlace): string | undefined {
  if (place.origin.subagent !== undefined || peek(part, 'isSidechain') === true) return 'subagent-prompt';
  const provenance = peekWords(part, 'provenance');
  const subtype = peekWords(part, 'subtype');
  if (provenance !== undefined && provenance !== 'real_user') return subtype ?? provenance;
  // This was typed while tools ran. The program writes all other kinds: ends of tasks, timers, goals.
  return subtype === 'mid_turn_user_message' || provenance === 'real_user' ? undefined : subtype;
}

const PROMPT = {
  sent: 'message.parts',
  shown: 'systemPayload.displayText',
  injected: /^\s*<system-reminder>/,
  kind: 'system-reminder',
};

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
  // A part of another kind makes no event. It stays where it is, and so in `rest`.
  const drafts = elementsAt(part, 'message.parts').flatMap((said) => {
    const call = readCall(said);
    if (call.length > 0) return call;
    return peek(said, 'thought') === true ? readThought(said) : readText(said);
  });
  return [...drafts, ...readUsage(part, { responseId: peekText(part, 'uuid') })];
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

/** Results of tools, with the program's own copy if the record has one result. */
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

/** This record precedes the result itself. Its `callId` joins the two. */
const readToolEnd = fields('tool.result', {
  callId: 'call_id',
  name: 'function_name',
  durationMs: 'duration_ms',
  detail: '',
});
