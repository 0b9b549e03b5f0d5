import type { Transcript } from '../../cli/test/agents/corpus.ts';

/*
 * Figures of sessions by a second reading of the agents' own records, which shares no code with the readers. An agent that
 * does not record something has no figure for it here.
 */

export interface Counted {
  prompts?: number;
  calls?: number;
  failures?: number;
  input?: number;
  output?: number;
  compactions?: number;
}

type Loose = Record<string, unknown>;
const asObject = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {});
const asList = (value: unknown): Loose[] => (Array.isArray(value) ? value.map(asObject) : []);
const asNumber = (value: unknown): number => (typeof value === 'number' ? value : 0);
const sumOf = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0);

const recordsOf = (files: readonly Transcript[]): Loose[] =>
  files.flatMap(({ lines }) => lines.map((line) => asObject(JSON.parse(line))));
const isMain = ({ origin }: Transcript) => origin.subagent === undefined;

export function countPi(files: readonly Transcript[]): Counted {
  const records = recordsOf(files);
  const messages = records.filter(({ type }) => type === 'message').map(({ message }) => asObject(message));
  // A response that was written twice has an id.
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

/** A document whose messages are written again: of each the last writing counts. Thinking is billed as output, and told apart. */
export function countGemini(files: readonly Transcript[]): Counted {
  const written = recordsOf(files).filter(({ id }) => id !== undefined);
  const messages = [...new Map(written.map((record) => [record.id, record])).values()];
  const tokens = messages.map((message) => asObject(message.tokens));
  return {
    input: sumOf(tokens.map(({ input }) => asNumber(input))),
    output: sumOf(tokens.flatMap(({ output, thoughts }) => [output, thoughts].map(asNumber))),
  };
}
