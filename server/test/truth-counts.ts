import type { Transcript } from '../../cli/test/agents/corpus.ts';

/*
 * Figures of sessions from a second reading of the agents' own records, which shares no code with the readers. If an agent does
 * not record something, its figure is absent here.
 */

export interface Counted {
  prompts?: number;
  calls?: number;
  failures?: number;
  input?: number;
  output?: number;
  subagents?: number;
  compactions?: number;
}

export type Loose = Record<string, unknown>;
export const asObject = (value: unknown): Loose =>
  typeof value === 'object' && value !== null ? (value as Loose) : {};
export const asList = (value: unknown): Loose[] => (Array.isArray(value) ? value.map(asObject) : []);
export const asNumber = (value: unknown): number => (typeof value === 'number' ? value : 0);
export const sumOf = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0);

const recordsOf = (files: readonly Transcript[]): Loose[] =>
  files.flatMap(({ lines }) => lines.map((line) => asObject(JSON.parse(line))));
export const isMain = ({ origin }: Transcript) => origin.subagent === undefined;

export function countPi(files: readonly Transcript[]): Counted {
  const records = recordsOf(files);
  const messages = records.filter(({ type }) => type === 'message').map(({ message }) => asObject(message));
  // A response that is written twice has an id, so the map counts it once.
  const responses = new Map(messages.map((message) => [message.responseId ?? message, asObject(message.usage)]));
  const usage = [...responses.values()];
  const isFailed = ({ role, isError, stopReason }: Loose) =>
    (role === 'toolResult' && isError === true) || stopReason === 'error';
  return {
    prompts: messages.filter(({ role }) => role === 'user').length,
    calls: messages.flatMap(({ content }) => asList(content)).filter(({ type }) => type === 'toolCall').length,
    failures: messages.filter(isFailed).length,
    input: sumOf(usage.flatMap((each) => [each.input, each.cacheRead, each.cacheWrite].map(asNumber))),
    output: sumOf(usage.map((each) => asNumber(each.output))),
    compactions: records.filter(({ type }) => type === 'compaction').length,
  };
}

export function countDroid(files: readonly Transcript[]): Counted {
  const records = recordsOf(files);
  const blocks = (role: string, among = records) =>
    among
      .filter(({ type }) => type === 'message')
      .map(({ message }) => asObject(message))
      .filter((message) => message.role === role && message.visibility !== 'llm_only')
      .map(({ content }) =>
        typeof content === 'string' ? [{ type: 'text', text: content } as Loose] : asList(content),
      );
  const results = blocks('user')
    .flat()
    .filter(({ type }) => type === 'tool_result');
  const isTyped = ({ type, text }: Loose) =>
    type === 'image' ||
    (type === 'text' &&
      String(text)
        .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
        .trim() !== '');
  return {
    prompts: blocks('user', recordsOf(files.filter(isMain))).filter((content) => content.some(isTyped)).length,
    calls: blocks('assistant')
      .flat()
      .filter(({ type }) => type === 'tool_use').length,
    failures: results.filter((result) => result.is_error === true).length,
    compactions: records.filter(({ type }) => type === 'compaction_state').length,
  };
}

export function countQwen(files: readonly Transcript[]): Counted {
  const records = recordsOf(files);
  const parts = (wanted: string) =>
    records.filter(({ type }) => type === wanted).flatMap(({ message }) => asList(asObject(message).parts));
  const main = recordsOf(files.filter(isMain));
  const usage = records.map(({ usageMetadata }) => asObject(usageMetadata));
  const isTyped = ({ type, subtype, isSidechain }: Loose) =>
    type === 'user' && isSidechain !== true && subtype !== 'notification' && subtype !== 'goal_runtime';
  const answers = records.filter(({ type }) => type === 'tool_result');
  const failed = answers.filter(
    ({ toolCallResult, message }) =>
      asObject(toolCallResult).status === 'error' ||
      asList(asObject(message).parts).some(
        ({ functionResponse }) => asObject(asObject(functionResponse).response).error !== undefined,
      ),
  );
  const events = records.map(({ systemPayload }) => asObject(asObject(systemPayload).uiEvent)['event.name']);
  return {
    prompts: main.filter(isTyped).length,
    calls: parts('assistant').filter(({ functionCall }) => functionCall !== undefined).length,
    failures: failed.length + events.filter((name) => name === 'qwen-code.api_error').length,
    input: sumOf(usage.map(({ promptTokenCount }) => asNumber(promptTokenCount))),
    output: sumOf(usage.map(({ candidatesTokenCount }) => asNumber(candidatesTokenCount))),
    compactions: records.filter(({ subtype }) => subtype === 'chat_compression').length,
  };
}

/**
 * The document repeats messages; the last copy of each counts. Thinking is billed as output, and is recorded separately from it.
 */
export function countGemini(files: readonly Transcript[]): Counted {
  const written = recordsOf(files).filter(({ id }) => id !== undefined);
  const messages = [...new Map(written.map((record) => [record.id, record])).values()];
  const tokens = messages.map((message) => asObject(message.tokens));
  return {
    input: sumOf(tokens.map(({ input }) => asNumber(input))),
    output: sumOf(tokens.flatMap(({ output, thoughts }) => [output, thoughts].map(asNumber))),
  };
}

/** The sum of the largest count of each response: several records may report the same response. */
function largest(told: readonly { response: unknown; count: number }[]): number {
  const byResponse = new Map<unknown, number>();
  for (const { response, count } of told) byResponse.set(response, Math.max(count, byResponse.get(response) ?? 0));
  return sumOf([...byResponse.values()]);
}

/**
 * If calls have no record of their own, only the record of the end tells what was sent to the models: a running total each time.
 */
export function countCopilot(files: readonly Transcript[]): Counted {
  const records = recordsOf(files).map(({ type, data, agentId }) => ({ type, data: asObject(data), agentId }));
  const of = (kind: string) => records.filter(({ type }) => type === kind);
  const isTyped = ({ data, agentId }: (typeof records)[number]) =>
    agentId === undefined &&
    data.parentToolCallId === undefined &&
    (data.source === undefined || data.source === 'user') &&
    !String(data.content).startsWith('<skill-context');
  const isFailed = ({ data }: (typeof records)[number]) =>
    data.success === false ||
    ![undefined, 0].includes(asObject(data.shellExecution).exitCode as undefined) ||
    / completed with exit code -?[1-9]\d*>\s*$/.test(String(asObject(data.result).content));
  const compactions = of('session.compaction_complete').map(({ data }) => data);
  const responses = of('session.usage_record').map(({ data }) => asObject(data.usage));
  const ends = of('session.shutdown').filter(({ data }) => data.accountingSnapshot === undefined);
  const sent = [
    ...responses.map(({ apiCallId, inputTokens }) => ({ response: apiCallId, count: asNumber(inputTokens) })),
    ...ends.flatMap(({ data }) =>
      Object.entries(asObject(data.modelMetrics)).map(([model, metrics]) => ({
        response: `${data.sessionStartTime} ${model}`,
        count: asNumber(asObject(asObject(metrics).usage).inputTokens),
      })),
    ),
  ];
  const answered = [
    ...responses.map(({ apiCallId, outputTokens }) => ({ response: apiCallId, count: asNumber(outputTokens) })),
    ...of('assistant.message').map(({ data }) => ({
      response: data.apiCallId ?? data.requestId ?? data.messageId,
      count: asNumber(data.outputTokens),
    })),
  ];
  return {
    prompts: of('user.message').filter(isTyped).length,
    calls: of('assistant.message').flatMap(({ data }) => asList(data.toolRequests)).length,
    failures:
      of('tool.execution_complete').filter(isFailed).length +
      of('session.error').length +
      compactions.filter(({ error }) => error !== undefined).length,
    input: largest(sent),
    output: largest(answered),
    subagents: new Set(
      ['started', 'completed', 'failed'].flatMap((phase) => of(`subagent.${phase}`).map(({ data }) => data.toolCallId)),
    ).size,
    compactions: compactions.filter(({ error }) => error === undefined).length,
  };
}

/** Hooks report everything; a transcript has no ids, no tokens and no tool outputs. */
export function countCursor(files: readonly Transcript[]): Counted {
  const records = recordsOf(files);
  const hooks = records.filter(({ event }) => event !== undefined).map(({ event }) => asObject(event));
  if (hooks.length === 0) return countCursorLines(files);
  const of = (...kinds: string[]) => hooks.filter(({ hook_event_name: kind }) => kinds.includes(String(kind)));
  const isFailed = ({ hook_event_name: kind, tool_output: output }: Loose) =>
    kind === 'postToolUseFailure' || /^\{.*"exitCode": ?[1-9-]/s.test(String(output));
  const told = (figure: string) =>
    largest(
      of('afterAgentResponse', 'stop').map((hook) => ({ response: hook.generation_id, count: asNumber(hook[figure]) })),
    );
  return {
    prompts: of('beforeSubmitPrompt').length,
    calls: new Set(of('preToolUse', 'postToolUse', 'postToolUseFailure').map((hook) => hook.tool_use_id ?? hook)).size,
    failures:
      of('postToolUse', 'postToolUseFailure').filter(isFailed).length +
      of('stop', 'sessionEnd').filter(({ error_message: text }) => Boolean(text)).length,
    input: told('input_tokens'),
    output: told('output_tokens'),
    subagents: new Set(of('subagentStart', 'subagentStop').flatMap(({ subagent_id: id }) => id ?? [])).size,
    compactions: of('preCompact').length,
  };
}

function countCursorLines(files: readonly Transcript[]): Counted {
  const blocksOf = ({ message, content }: Loose) => {
    const said = asObject(message).content ?? content;
    return typeof said === 'string' ? [{ type: 'text', text: said } as Loose] : asList(said);
  };
  const isTyped = ({ type, text }: Loose) =>
    (type ?? 'text') === 'text' && (!/^\s*</.test(String(text)) || String(text).includes('<user_query>'));
  const main = recordsOf(files.filter(isMain)).filter(({ role }) => role === 'user');
  return {
    prompts: main.filter((record) => blocksOf(record).some(isTyped)).length,
    calls: recordsOf(files)
      .filter(({ role }) => role === 'assistant')
      .flatMap(blocksOf)
      .filter(({ type }) => /^tool[-_](use|call)$/.test(String(type))).length,
    subagents: files.filter((file) => !isMain(file)).length,
  };
}
