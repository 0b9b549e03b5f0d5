import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { JsonObject, RecordPlace } from '../agent.ts';
import { toTimestamp } from '../shared/document.ts';
import { compose, type Draft, draft } from '../shared/events.ts';
import {
  at,
  elementsAt,
  isObject,
  type Part,
  partOf,
  peek,
  peekText,
  peekWords,
  take,
  takeSame,
  takeText,
} from '../shared/part.ts';
import { fields, type Places, usage } from '../shared/readers.ts';
import { toTime } from './store.ts';

type KindReader = (row: Part, place: RecordPlace, record: Part) => Draft[];

const READERS: ReadonlyMap<string, KindReader> = new Map<string, KindReader>([
  ['sessions', readSession],
  ['summed', readSummed],
  ['messages', readMessage],
  ['usage_ledger', (row) => readLedger(row, { responseId: nameUsage(peek(row, 'id')) })],
]);

export function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const part = partOf(record);
  const key = [...READERS.keys()].find((name) => isObject(peek(part, name)));
  // A line of an older file is a message, the first one what is known of the session.
  const row = key === undefined ? part : at(part, key);
  const read = key === undefined ? (Array.isArray(record.content) ? readMessage : readLine) : READERS.get(key);
  const drafts = read?.(row, place, part) ?? [];
  const { revision, occurredAt } = timesOf(row);
  takeSame(row, 'session_id', place.origin.subagent ?? place.origin.session);
  const id = key === 'usage_ledger' ? nameUsage(peek(row, 'id')) : takeText(row, 'message_id', 'id');
  const isRewritten = key !== undefined && id !== undefined;
  return compose(
    part,
    place,
    { agent: 'goose', record: id, occurredAt, ...(isRewritten && { revision }) },
    drafts,
    key,
  );
}

const readLine: KindReader = (row, place, record) =>
  typeof peek(row, 'working_dir') === 'string' ? readSummed(row, place, record) : [];

/** Of a message, which tells no time of its last change, the number of its row: it grows when it is written anew. */
function timesOf(row: Part) {
  const of = (...names: string[]) => names.map((name) => peek(row, name)).find((value) => value !== undefined);
  const id = of('id');
  const changed = toTime(of('updated_at')) ?? (Number.isSafeInteger(id) ? (id as number) : 0);
  const occurredAt = toTimestamp(toTime(of('created_timestamp', 'created', 'created_at')));
  return { revision: Math.max(0, Math.floor(changed)), occurredAt };
}

const FACTS = { cwd: 'working_dir', model: ['model_config_json.model_name', 'model_config.model_name'] };
const readNamed = fields('session.meta', { ...FACTS, title: 'name' });
const readDescribed = fields('session.meta', { ...FACTS, title: 'description' });
const readUntitled = fields('session.meta', FACTS);

function readSession(row: Part, { origin }: RecordPlace, record: Part): Draft[] {
  takeSame(record, 'root', origin.session);
  const titleBy = [1, true].includes(peek(row, 'user_set_name') as never) ? 'person' : 'agent';
  if (peekWords(row, 'name') !== undefined) return readNamed(row, { titleBy });
  return peekWords(row, 'description') === undefined ? readUntitled(row) : readDescribed(row, { titleBy });
}

/** The totals of a session, in an export or from before there was a ledger. */
function readSummed(row: Part, place: RecordPlace, record: Part): Draft[] {
  const drafts = readSession(row, place, record);
  const responseId = peekText(row, 'id') ?? place.origin.session;
  const isNested = peek(row, 'accumulated_usage') !== undefined;
  const usage = isNested ? readLedger(at(row, 'accumulated_usage'), { responseId }) : readTotals(row, { responseId });
  return [...drafts, ...usage];
}

const countsFrom = (prefix: string): Places<'usage'> => ({
  model: 'model',
  inputTokens: `${prefix}input_tokens`,
  outputTokens: `${prefix}output_tokens`,
  cacheReadTokens: [`${prefix}cache_read_tokens`, `${prefix}cache_read_input_tokens`],
  cacheWriteTokens: [`${prefix}cache_write_tokens`, `${prefix}cache_write_input_tokens`],
  totalTokens: `${prefix}total_tokens`,
});

/** A response of the model. */
const readLedger = usage(countsFrom(''), 'included');
const readTotals = usage(countsFrom('accumulated_'), 'included');

/** Rows have numbers; whatever else stands there is no name. */
const nameUsage = (id: unknown): string => (typeof id === 'number' || typeof id === 'string' ? `usage ${id}` : 'usage');

type PartReader = (part: Part, messageId: string | undefined) => Draft[];

const told = (kind: string, ...texts: string[]): [string, PartReader] => [
  kind,
  (part) => [draft('notice', { text: takeText(part, ...texts), kind })],
];

const readThoughts: PartReader = (part, messageId) => [
  draft('assistant.reasoning', { text: takeText(part, 'thinking') ?? '', messageId }),
];

const PART_READERS: ReadonlyMap<string, PartReader> = new Map<string, PartReader>([
  ['thinking', readThoughts],
  ['redactedThinking', readThoughts],
  ['toolRequest', readCall],
  ['frontendToolRequest', readCall],
  ['toolResponse', readResult],
  told('toolConfirmationRequest', 'prompt'),
  told('actionRequired', 'data.prompt', 'data.message'),
  told('systemNotification', 'msg'),
  told('conversationCompacted', 'msg'),
]);

/** A message is a list of parts; tools answer in messages of the person's role. */
function readMessage(row: Part, { origin }: RecordPlace): Draft[] {
  const messageId = peekText(row, 'message_id') ?? peekText(row, 'id');
  const role = peekText(row, 'role');
  const parts = [...elementsAt(row, 'content_json'), ...elementsAt(row, 'content')];
  const typeOf = (part: Part) => peekText(part, 'type') ?? '';
  const isHidden = ['metadata_json', 'metadata'].some((name) => peek(row, `${name}.userVisible`) === false);
  const isPrompt = role === 'user' && !isHidden && origin.subagent === undefined;
  const images = parts.filter((part) => typeOf(part) === 'image').length || undefined;
  const kind = isHidden ? 'agent-only' : origin.subagent === undefined ? 'attached' : 'subagent-prompt';
  const prompt = isPrompt ? parts.find((part) => typeOf(part) === 'text' && peekText(part, 'text')) : undefined;

  function readText(part: Part): Draft {
    const text = takeText(part, 'text') ?? '';
    if (part === prompt) return draft('user.message', { text, images });
    const isAnswer = role === 'assistant' && !isHidden;
    return isAnswer ? draft('assistant.message', { text, messageId }) : draft('context.message', { text, kind });
  }

  const drafts = parts.flatMap((part) => {
    if (typeOf(part) === 'text') return peekText(part, 'text') ? [readText(part)] : [];
    return PART_READERS.get(typeOf(part))?.(part, messageId) ?? [];
  });
  return isPrompt && prompt === undefined && images !== undefined
    ? [draft('user.message', { images }), ...drafts]
    : drafts;
}

const calls = fields('tool.call', { callId: 'id', name: 'toolCall.value.name', input: 'toolCall.value.arguments' });

function readCall(part: Part): Draft[] {
  const call = calls(part);
  if (call.length > 0) return call;
  // What the model asked for could not be made out; what is wrong stays in the rest.
  return [draft('error', { text: takeText(part, 'toolCall.error'), kind: 'toolRequest' })];
}

const results = fields('tool.result', {
  callId: 'id',
  output: 'toolResult.value.content',
  detail: 'toolResult.value.structuredContent',
});
const bareResults = fields('tool.result', { callId: 'id', output: ['toolResult.value', 'toolResult.error'] });

function readResult(part: Part): Draft[] {
  const flag = 'toolResult.value.isError';
  const isFailed = peek(part, 'toolResult.status') === 'error' || undefined;
  const isError = typeof peek(part, flag) === 'boolean' ? (take(part, flag) as boolean) : isFailed;
  const hasContent = peek(part, 'toolResult.value.content') !== undefined;
  return (hasContent ? results : bareResults)(part, { isError });
}
