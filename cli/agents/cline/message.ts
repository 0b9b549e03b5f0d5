import { type Draft, draft } from '../compose.ts';
import { countImages, elementsAt } from '../reader.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeFlag, takeInteger, takeText } from '../typed.ts';

/** One message: what was typed or put before the model, what tools answered, or a response with its usage. */
export function readMessage(remainder: Remainder): Draft[] {
  const model = peekText(remainder, 'modelInfo', 'id');
  const messageId = peekText(remainder, 'id');
  const drafts = readCompaction(remainder);
  const texts = peekText(remainder, 'content') === undefined ? elementsAt(remainder, 'content') : [['content']];
  drafts.push(...texts.flatMap((at) => readBlock(remainder, at, model, messageId)));
  if (peekText(remainder, 'role') === 'user') drafts.push(...readImages(remainder, drafts));
  drafts.push(...readUsage(remainder, model, messageId));
  if (drafts.some(({ fields }) => 'model' in fields)) take(remainder, 'modelInfo', 'id');
  return drafts;
}

type Identity = string | undefined;

/** Nothing for a block of another type: it is left where it is, and so in `rest`. */
function readBlock(remainder: Remainder, at: Path, model: Identity, messageId: Identity): Draft[] {
  const type = at.length === 1 ? 'text' : (peekText(remainder, ...at, 'type') ?? '');
  if (type === 'text') return readText(remainder, at, model, messageId);
  if (type === 'thinking' || type === 'redacted_thinking') {
    const text = takeText(remainder, ...at, 'thinking') ?? '';
    return [draft('assistant.reasoning', { text, model, messageId })];
  }
  if (type === 'tool_use') {
    const callId = takeText(remainder, ...at, 'id');
    const name = takeText(remainder, ...at, 'name') ?? type;
    return [draft('tool.call', { callId, name, input: take(remainder, ...at, 'input'), model })];
  }
  if (type !== 'tool_result') return [];
  const callId = takeText(remainder, ...at, 'tool_use_id');
  const name = takeText(remainder, ...at, 'name');
  const isError = takeFlag(remainder, ...at, 'is_error');
  return [draft('tool.result', { callId, name, output: take(remainder, ...at, 'content'), isError })];
}

function readText(remainder: Remainder, at: Path, model: Identity, messageId: Identity): Draft[] {
  const from = at.length === 1 ? at : [...at, 'text'];
  const start = peekText(remainder, ...from);
  if (start === undefined) return [];
  const isTyped = peek(remainder, ...at, 'user_input') !== undefined;
  const kind = isTyped ? undefined : injectedKind(remainder, start);
  const text = takeText(remainder, ...from) ?? '';
  if (peekText(remainder, 'role') !== 'user') return [draft('assistant.message', { text, model, messageId })];
  return [kind === undefined ? draft('user.message', { text }) : draft('context.message', { text, kind })];
}

/** Why a user's text was not typed: the program says so, or wraps it in a tag of its own. */
function injectedKind(remainder: Remainder, text: string): string | undefined {
  const shown = peekText(remainder, 'metadata', 'displayRole');
  if (shown !== undefined && shown !== 'user') return peekText(remainder, 'metadata', 'kind') ?? shown;
  const tag = /^\s*<([\w-]+)/.exec(text)?.[1];
  return tag === 'user_input' || tag === 'user_command' || tag === 'task' ? undefined : tag;
}

/** The summary stands in the text too; the text is what the model saw. */
function readCompaction(remainder: Remainder): Draft[] {
  if (peekText(remainder, 'metadata', 'kind') !== 'compaction_summary') return [];
  const summary = takeText(remainder, 'metadata', 'summary');
  return [draft('compaction', { summary, tokensBefore: takeInteger(remainder, 'metadata', 'tokensBefore') })];
}

/** The images stay in `rest`; the prompt they belong to says how many there are. */
function readImages(remainder: Remainder, drafts: Draft[]): Draft[] {
  const images = countImages(remainder, 'content');
  if (images === undefined) return [];
  const prompt = drafts.find(({ eventType }) => eventType === 'user.message');
  if (prompt === undefined) return drafts.length > 0 ? [] : [draft('user.message', { images })];
  prompt.fields = { ...prompt.fields, images };
  return [];
}

function readUsage(remainder: Remainder, model: Identity, responseId: Identity): Draft[] {
  const count = (key: string) => takeInteger(remainder, 'metrics', key);
  const counts = {
    inputTokens: count('inputTokens'),
    outputTokens: count('outputTokens'),
    cacheReadTokens: count('cacheReadTokens'),
    cacheWriteTokens: count('cacheWriteTokens'),
  };
  if (Object.values(counts).every((value) => value === undefined)) return [];
  return [draft('usage', { responseId, model, ...counts, cached: 'included' })];
}
