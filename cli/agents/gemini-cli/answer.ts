import { type Draft, draft } from '../compose.ts';
import { elementsAt } from '../reader.ts';
import { type Path, type Remainder, take } from '../remainder.ts';
import { lengthAt, peekText, takeInteger, takeText } from '../typed.ts';
import { textsAt } from './user.ts';

/** One response of the model, with the tools it called and, in a later writing, what they answered. */
export function readAnswer(remainder: Remainder): Draft[] {
  const model = peekText(remainder, 'model');
  const messageId = peekText(remainder, 'id');
  const drafts = elementsAt(remainder, 'thoughts').map((at) =>
    draft('assistant.reasoning', { text: takeText(remainder, ...at, 'description') ?? '', model, messageId }),
  );
  // Of a response that only asks for tools the text is empty.
  const texts = [...textsAt(remainder, 'content'), ...textsAt(remainder, 'parts')].filter(
    (at) => peekText(remainder, ...at) !== '',
  );
  const said = texts.map((at) => takeText(remainder, ...at) ?? '');
  drafts.push(...said.map((text) => draft('assistant.message', { text, model, messageId })));
  drafts.push(...readUsage(remainder, model, messageId));
  drafts.push(...elementsAt(remainder, 'toolCalls').flatMap((at) => readTool(remainder, at, model)));
  if (drafts.some(({ fields }) => 'model' in fields)) take(remainder, 'model');
  return drafts;
}

function readUsage(remainder: Remainder, model: string | undefined, responseId: string | undefined): Draft[] {
  const count = (key: string) => takeInteger(remainder, 'tokens', key);
  const counts = {
    inputTokens: count('input'),
    outputTokens: count('output'),
    cacheReadTokens: count('cached'),
    reasoningTokens: count('thoughts'),
    totalTokens: count('total'),
  };
  if (Object.values(counts).every((value) => value === undefined)) return [];
  return [draft('usage', { responseId, model, ...counts, cached: 'included' })];
}

function readTool(remainder: Remainder, at: Path, model: string | undefined): Draft[] {
  const name = takeText(remainder, ...at, 'name');
  if (name === undefined) return [];
  const callId = takeText(remainder, ...at, 'id');
  const call = draft('tool.call', { callId, name, input: take(remainder, ...at, 'args'), model });
  const status = peekText(remainder, ...at, 'status') ?? '';
  const isError = /^(error|cancelled)$/.test(status) || undefined;
  const answered = takeAnswer(remainder, [...at, 'result']);
  const detail = take(remainder, ...at, 'resultDisplay');
  const isOpen = [answered.output, detail, isError].every((value) => value === undefined) && status !== 'success';
  return isOpen ? [call] : [call, draft('tool.result', { callId, ...answered, isError, detail })];
}

/** What a tool told the model: mostly one text, with the call's id and name around it. */
function takeAnswer(remainder: Remainder, at: Path): { output?: unknown; name?: string | undefined } {
  const inner = [...at, 0, 'functionResponse'];
  const told = ['output', 'error'].filter((key) => peekText(remainder, ...inner, 'response', key) !== undefined);
  const [key] = told;
  if (key === undefined || told.length > 1 || lengthAt(remainder, ...at) !== 1) {
    return { output: take(remainder, ...at) };
  }
  const name = takeText(remainder, ...inner, 'name');
  return { name, output: take(remainder, ...inner, 'response', key) };
}
