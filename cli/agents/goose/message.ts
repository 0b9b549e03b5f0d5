import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { elementsAt } from '../reader.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeFirstText, takeFlag, takeText } from '../typed.ts';

type PartReader = (remainder: Remainder, at: Path, messageId: string | undefined) => Draft[];

const told =
  (kind: string, ...texts: Path[]): PartReader =>
  (remainder, at) => [
    draft('notice', { text: takeFirstText(remainder, ...texts.map((path) => [...at, ...path])), kind }),
  ];

const READERS: ReadonlyMap<string, PartReader> = new Map<string, PartReader>([
  ['thinking', readThoughts],
  ['redactedThinking', readThoughts],
  ['toolRequest', readCall],
  ['frontendToolRequest', readCall],
  ['toolResponse', readResult],
  ['toolConfirmationRequest', told('toolConfirmationRequest', ['prompt'])],
  ['actionRequired', told('actionRequired', ['data', 'prompt'], ['data', 'message'])],
  ['systemNotification', told('systemNotification', ['msg'])],
  ['conversationCompacted', told('conversationCompacted', ['msg'])],
]);

/** A message is a list of parts; tools answer in messages of the person's role. */
export function readMessage(remainder: Remainder, at: Path, { origin }: RecordPlace): Draft[] {
  const messageId = peekText(remainder, ...at, 'message_id') ?? peekText(remainder, ...at, 'id');
  const parts = [...elementsAt(remainder, ...at, 'content_json'), ...elementsAt(remainder, ...at, 'content')];
  const typeOf = (part: Path) => peekText(remainder, ...part, 'type') ?? '';
  const isHidden = ['metadata_json', 'metadata'].some((name) => peek(remainder, ...at, name, 'userVisible') === false);
  const isPrompt = peekText(remainder, ...at, 'role') === 'user' && !isHidden && origin.subagent === undefined;
  const images = parts.filter((part) => typeOf(part) === 'image').length || undefined;
  const contextKind = isHidden ? 'agent-only' : origin.subagent === undefined ? 'attached' : 'subagent-prompt';
  let isSaid = false;

  function readText(part: Path): Draft {
    const text = takeText(remainder, ...part, 'text') ?? '';
    if (isPrompt && !isSaid) {
      isSaid = true;
      return draft('user.message', { text, images });
    }
    const isAnswer = peekText(remainder, ...at, 'role') === 'assistant' && !isHidden;
    return isAnswer
      ? draft('assistant.message', { text, messageId })
      : draft('context.message', { text, kind: contextKind });
  }

  const drafts = parts.flatMap((part) => {
    if (typeOf(part) === 'text') return peekText(remainder, ...part, 'text') ? [readText(part)] : [];
    return READERS.get(typeOf(part))?.(remainder, part, messageId) ?? [];
  });
  return isPrompt && !isSaid && images !== undefined ? [draft('user.message', { images }), ...drafts] : drafts;
}

function readThoughts(remainder: Remainder, at: Path, messageId: string | undefined): Draft[] {
  return [draft('assistant.reasoning', { text: takeText(remainder, ...at, 'thinking') ?? '', messageId })];
}

function readCall(remainder: Remainder, at: Path): Draft[] {
  const name = takeText(remainder, ...at, 'toolCall', 'value', 'name');
  // What the model asked for could not be made out; what is wrong stays in the rest.
  if (name === undefined)
    return [draft('error', { kind: 'toolRequest', text: takeText(remainder, ...at, 'toolCall', 'error') })];
  const input = take(remainder, ...at, 'toolCall', 'value', 'arguments');
  return [draft('tool.call', { callId: takeText(remainder, ...at, 'id'), name, input })];
}

function readResult(remainder: Remainder, at: Path): Draft[] {
  const result = [...at, 'toolResult'];
  const isFailed = peekText(remainder, ...result, 'status') === 'error' || undefined;
  const isError = takeFlag(remainder, ...result, 'value', 'isError') ?? isFailed;
  const content = take(remainder, ...result, 'value', 'content');
  const output = content ?? take(remainder, ...result, 'value') ?? take(remainder, ...result, 'error');
  const detail = content === undefined ? undefined : take(remainder, ...result, 'value', 'structuredContent');
  return [draft('tool.result', { callId: takeText(remainder, ...at, 'id'), output, isError, detail })];
}
