import { type Draft, draft } from '../compose.ts';
import { elementsAt } from '../reader.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeInteger, takeText } from '../typed.ts';

/** One API response; one that failed has an `errorMessage`. */
export function readAssistant(remainder: Remainder): Draft[] {
  const model = peekText(remainder, 'message', 'model');
  const messageId = peekText(remainder, 'message', 'responseId');
  const blocks = elementsAt(remainder, 'message', 'content');
  const drafts = blocks.flatMap((at) => readBlock(remainder, at, model, messageId));
  drafts.push(...readUsage(remainder, model, messageId), ...readEnd(remainder));
  if (drafts.some(({ fields }) => 'model' in fields)) take(remainder, 'message', 'model');
  if (drafts.some(({ fields }) => 'messageId' in fields)) take(remainder, 'message', 'responseId');
  return drafts;
}

type Identity = string | undefined;

/** Nothing for a block of another type: it is left where it is, and so in `rest`. */
function readBlock(remainder: Remainder, at: Path, model: Identity, messageId: Identity): Draft[] {
  const type = peekText(remainder, ...at, 'type');
  if (type === 'text') {
    const text = takeText(remainder, ...at, 'text');
    return text === undefined ? [] : [draft('assistant.message', { text, model, messageId })];
  }
  if (type === 'thinking') {
    const text = takeText(remainder, ...at, 'thinking') ?? '';
    return [draft('assistant.reasoning', { text, model, messageId })];
  }
  const name = type === 'toolCall' ? takeText(remainder, ...at, 'name') : undefined;
  if (name === undefined) return [];
  const callId = takeText(remainder, ...at, 'id');
  return [draft('tool.call', { callId, name, input: take(remainder, ...at, 'arguments'), model })];
}

function readUsage(remainder: Remainder, model: Identity, messageId: Identity): Draft[] {
  const count = (key: string) => takeInteger(remainder, 'message', 'usage', key);
  const counts = {
    inputTokens: count('input'),
    outputTokens: count('output'),
    cacheReadTokens: count('cacheRead'),
    cacheWriteTokens: count('cacheWrite'),
    totalTokens: count('totalTokens'),
  };
  if (Object.values(counts).every((value) => value === undefined)) return [];
  // Not every provider has an id of the response; the entry's own is equal in a fork.
  const responseId = messageId ?? peekText(remainder, 'id');
  return [draft('usage', { responseId, model, ...counts, cached: 'excluded' })];
}

function readEnd(remainder: Remainder): Draft[] {
  const isAborted = peek(remainder, 'message', 'stopReason') === 'aborted';
  if (isAborted) return [draft('turn.finished', { reason: takeText(remainder, 'message', 'stopReason') })];
  const text = takeText(remainder, 'message', 'errorMessage');
  return text === undefined ? [] : [draft('error', { text, kind: peekText(remainder, 'message', 'stopReason') })];
}
