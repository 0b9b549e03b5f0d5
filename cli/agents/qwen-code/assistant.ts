import { type Draft, draft } from '../compose.ts';
import { elementsAt } from '../reader.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeInteger, takeText } from '../typed.ts';

/** One API response. It has no id but the record's. */
export function readAssistant(remainder: Remainder): Draft[] {
  const model = peekText(remainder, 'model');
  const parts = elementsAt(remainder, 'message', 'parts');
  const drafts = parts.flatMap((at) => readPart(remainder, at, model));
  drafts.push(...readUsage(remainder, model));
  if (drafts.some(({ fields }) => 'model' in fields)) take(remainder, 'model');
  return drafts;
}

/** Nothing for a part of another kind: it is left where it is, and so in `rest`. */
function readPart(remainder: Remainder, at: Path, model: string | undefined): Draft[] {
  if (peekText(remainder, ...at, 'functionCall', 'name') !== undefined) {
    const call = [...at, 'functionCall'];
    const callId = takeText(remainder, ...call, 'id');
    const name = takeText(remainder, ...call, 'name') ?? '';
    return [draft('tool.call', { callId, name, input: take(remainder, ...call, 'args'), model })];
  }
  const text = takeText(remainder, ...at, 'text');
  if (text === undefined) return [];
  const isThought = peek(remainder, ...at, 'thought') === true;
  return [draft(isThought ? 'assistant.reasoning' : 'assistant.message', { text, model })];
}

function readUsage(remainder: Remainder, model: string | undefined): Draft[] {
  const count = (key: string) => takeInteger(remainder, 'usageMetadata', key);
  const counts = {
    inputTokens: count('promptTokenCount'),
    outputTokens: count('candidatesTokenCount'),
    cacheReadTokens: count('cachedContentTokenCount'),
    reasoningTokens: count('thoughtsTokenCount'),
    totalTokens: count('totalTokenCount'),
  };
  if (Object.values(counts).every((value) => value === undefined)) return [];
  const responseId = peekText(remainder, 'uuid');
  return [draft('usage', { responseId, model, ...counts, cached: 'included' })];
}
