import { type Draft, draft } from '../compose.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { lengthAt, peekText, takeInteger, takeText } from '../typed.ts';

const CONTENT: Path = ['message', 'content'];

/** An API response, or the part of it that one content block makes up. */
export function readAssistant(remainder: Remainder): Draft[] {
  if (peek(remainder, 'isApiErrorMessage') === true) return readApiError(remainder);
  const model = peekText(remainder, 'message', 'model');
  const messageId = peekText(remainder, 'message', 'id');
  const drafts: Draft[] = [];
  const text = takeText(remainder, ...CONTENT);
  if (text !== undefined) drafts.push(draft('assistant.message', { text, model, messageId }));
  const blocks = lengthAt(remainder, ...CONTENT);
  for (let index = 0; index < blocks; index++) drafts.push(...readBlock(remainder, index, model, messageId));
  drafts.push(...readUsage(remainder, model, messageId));
  // What no event says stays where it is.
  if (drafts.some(({ fields }) => 'model' in fields)) take(remainder, 'message', 'model');
  if (drafts.some(({ fields }) => 'messageId' in fields || 'responseId' in fields)) take(remainder, 'message', 'id');
  return drafts;
}

type Identity = string | undefined;

/** Nothing for a block of another type: it is left where it is, and so in `rest`. */
function readBlock(remainder: Remainder, index: number, model: Identity, messageId: Identity): Draft[] {
  const at = [...CONTENT, index];
  const type = peekText(remainder, ...at, 'type') ?? '';
  if (type === 'text') {
    const text = takeText(remainder, ...at, 'text');
    return text === undefined ? [] : [draft('assistant.message', { text, model, messageId })];
  }
  if (type === 'thinking' || type === 'redacted_thinking') {
    const text = takeText(remainder, ...at, 'thinking') ?? '';
    return [draft('assistant.reasoning', { text, model, messageId })];
  }
  if (type.endsWith('tool_use')) {
    const callId = takeText(remainder, ...at, 'id');
    const name = takeText(remainder, ...at, 'name') ?? type;
    return [draft('tool.call', { callId, name, input: take(remainder, ...at, 'input'), model })];
  }
  // Tools that run at the vendor's answer within the response.
  if (type.endsWith('tool_result')) {
    const callId = takeText(remainder, ...at, 'tool_use_id');
    return [draft('tool.result', { callId, output: take(remainder, ...at, 'content') })];
  }
  return [];
}

function readUsage(remainder: Remainder, model: Identity, responseId: Identity): Draft[] {
  const take = (...key: string[]) => takeInteger(remainder, 'message', 'usage', ...key);
  const counts = {
    inputTokens: take('input_tokens'),
    outputTokens: take('output_tokens'),
    cacheReadTokens: take('cache_read_input_tokens'),
    cacheWriteTokens: take('cache_creation_input_tokens'),
    reasoningTokens: take('output_tokens_details', 'thinking_tokens'),
  };
  if (Object.values(counts).every((count) => count === undefined)) return [];
  return [draft('usage', { responseId, model, ...counts, cached: 'excluded' })];
}

/** The program's own message in place of a response that did not come. Its usage is all zeros and left in `rest`. */
function readApiError(remainder: Remainder): Draft[] {
  const text = takeText(remainder, ...CONTENT, 0, 'text') ?? takeText(remainder, ...CONTENT);
  return [draft('error', { text, kind: peekText(remainder, 'error') ?? 'api_error' })];
}
