import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { countImages, elementsAt } from '../reader.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeFlag, takeText } from '../typed.ts';

const CONTENT: Path = ['message', 'content'];

export function readMessage(remainder: Remainder, place: RecordPlace): Draft[] {
  const role = peekText(remainder, 'message', 'role');
  if (role === 'assistant') return readAssistant(remainder);
  const results = elementsAt(remainder, ...CONTENT).flatMap((at) => readResult(remainder, at));
  const images = countImages(remainder, ...CONTENT);
  const texts = textsOf(remainder).map((at) => readText(remainder, place, at, role));
  const prompt = texts.find(({ eventType }) => eventType === 'user.message');
  if (prompt !== undefined && images !== undefined) prompt.fields = { ...prompt.fields, images };
  const isPicture = images !== undefined && results.length + texts.length === 0;
  return isPicture ? [draft('user.message', { images })] : [...results, ...texts];
}

/** The places of the texts in content, which is text or a list of blocks. */
function textsOf(remainder: Remainder): Path[] {
  const places = [CONTENT, ...elementsAt(remainder, ...CONTENT).map((at) => [...at, 'text'])];
  return places.filter((at) => peekText(remainder, ...at) !== undefined);
}

function readText(remainder: Remainder, place: RecordPlace, at: Path, role: string | undefined): Draft {
  const kind = injectedKind(remainder, place, peekText(remainder, ...at) ?? '', role);
  const text = takeText(remainder, ...at);
  return kind === undefined ? draft('user.message', { text }) : draft('context.message', { text, kind });
}

/** Why a text is no prompt; `undefined` if a person typed it. */
function injectedKind(remainder: Remainder, place: RecordPlace, text: string, role = ''): string | undefined {
  if (role !== 'user') return role || 'message';
  if (peekText(remainder, 'message', 'visibility') === 'llm_only') return 'llm_only';
  if (isReminder(text)) return 'system-reminder';
  return place.origin.subagent === undefined ? undefined : 'subagent-prompt';
}

/** Nothing but a reminder. A prompt may follow one in the same text, and stays whole with it. */
function isReminder(text: string): boolean {
  if (!text.trimStart().startsWith('<system-reminder>')) return false;
  const end = '</system-reminder>';
  const last = text.lastIndexOf(end);
  return last < 0 || text.slice(last + end.length).trim() === '';
}

function readResult(remainder: Remainder, at: Path): Draft[] {
  if (peekText(remainder, ...at, 'type') !== 'tool_result') return [];
  const callId = takeText(remainder, ...at, 'tool_use_id');
  const isError = takeFlag(remainder, ...at, 'is_error');
  return [draft('tool.result', { callId, output: take(remainder, ...at, 'content'), isError })];
}

function readAssistant(remainder: Remainder): Draft[] {
  const model = peekText(remainder, 'message', 'model');
  const text = takeText(remainder, ...CONTENT);
  const drafts = text === undefined ? [] : [draft('assistant.message', { text, model })];
  drafts.push(...elementsAt(remainder, ...CONTENT).flatMap((at) => readBlock(remainder, at, model)));
  if (drafts.some(({ fields }) => 'model' in fields)) take(remainder, 'message', 'model');
  return drafts;
}

/** Nothing for a block of another type: it is left where it is, and so in `rest`. */
function readBlock(remainder: Remainder, at: Path, model: string | undefined): Draft[] {
  const type = peekText(remainder, ...at, 'type');
  if (type === 'thinking' || type === 'redacted_thinking') {
    return [draft('assistant.reasoning', { text: takeText(remainder, ...at, 'thinking') ?? '', model })];
  }
  if (type === 'tool_use' && peek(remainder, ...at, 'name') !== undefined) {
    const callId = takeText(remainder, ...at, 'id');
    const name = takeText(remainder, ...at, 'name') ?? type;
    return [draft('tool.call', { callId, name, input: take(remainder, ...at, 'input'), model })];
  }
  const text = takeText(remainder, ...at, 'text');
  return text === undefined ? [] : [draft('assistant.message', { text, model })];
}
