import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { Agent, JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { toTimestamp } from '../shared/document.ts';
import { compose, type Draft, draft, type Readers, readerOf, shareText } from '../shared/events.ts';
import { headerOf, toOrigin } from '../shared/identity.ts';
import { withImages } from '../shared/messages.ts';
import {
  at,
  elementsAt,
  isObject,
  type Part,
  partOf,
  peek,
  peekText,
  peekWords,
  takeSame,
  takeText,
  takeWords,
} from '../shared/part.ts';
import { fields, notice, usage } from '../shared/readers.ts';
import { database, toTime } from './store.ts';

/**
 * Goose keeps all sessions in a database: a row per session, a row per message and, in a ledger, a row per response of the
 * model. When a conversation is shortened, its messages are written again under the same `message_id`. Sub-agents have
 * sessions of their own. Not captured: exports, and the older files with one message per line, which Goose itself moved into
 * the database.
 */
export const goose: Agent = {
  id: 'goose',
  displayName: 'Goose',
  programs: ['goose'],
  variables: ['GOOSE_PATH_ROOT', 'XDG_DATA_HOME'],
  credentials: (_, home) => [join(home, '.config', 'goose', 'secrets.yaml')],
  roots: (variables, home) => {
    const { GOOSE_PATH_ROOT: root, XDG_DATA_HOME: data = join(home, '.local', 'share'), APPDATA } = variables;
    const moved = root ? [join(root, 'data', 'sessions')] : [];
    const onWindows = APPDATA ? [join(APPDATA, 'Block', 'goose', 'data', 'sessions')] : [];
    return [...moved, join(data, 'goose', 'sessions'), ...onWindows];
  },
  isTranscript: (path) => path === 'sessions.db',
  entersFolder: () => false,
  plainRecords: ['messages'],
  store: database,
  hasLocalIds: true,
  identify,
  recordKey,
  restates: isForModel,
  parse,
};

/** The first record is the session's. A sub-agent has its own session, with a parent. */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const record = headerOf(first);
  const word = (name: string) => peekWords(record, `sessions.${name}`, `summed.${name}`);
  const id = word('id') ?? path.split('#')[1] ?? path;
  const parent = peekWords(record, 'root') ?? word('parent_session_id');
  return toOrigin({
    session: parent ?? id,
    subagent: parent && id,
    cwd: word('working_dir'),
  });
}

/** A message is the same even in another row. */
function recordKey({ messages }: JsonObject): string | undefined {
  if (!isObject(messages)) return undefined;
  const { message_id: id, role, content_json, metadata_json, created_timestamp } = messages;
  if (typeof id !== 'string' || id.length < 8) return undefined;
  return `${id} ${hash('sha256', JSON.stringify([role, content_json, metadata_json, created_timestamp]))}`;
}

/** When Goose shortens a conversation, it hides the summary from the person. */
function isForModel({ messages }: JsonObject): boolean {
  return isObject(messages) && isObject(messages.metadata_json) && messages.metadata_json.userVisible === false;
}

const READERS: Readers = {
  sessions: readSession,
  summed: readSummed,
  messages: readMessage,
  usage_ledger: (row) => readLedger(row, { responseId: nameUsage(peek(row, 'id')), purpose: purposeOf(row) }),
};

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const part = partOf(record);
  const key = Object.keys(READERS).find((name) => isObject(peek(part, name))) ?? '';
  const row = at(part, key);
  const drafts = READERS[key]?.(row, place);
  if (drafts === undefined) return compose(part, place, { agent: 'goose' }, []);
  const { revision, occurredAt } = timesOf(row);
  takeSame(part, 'root', place.origin.session);
  takeSame(row, 'session_id', place.origin.subagent ?? place.origin.session);
  const named = key === 'messages' ? 'message_id' : 'id';
  const id = key === 'usage_ledger' ? nameUsage(peek(row, 'id')) : peekText(row, named);
  shareText(row, drafts, { messageId: 'message_id' });
  takeSame(row, named, id);
  const envelope = {
    agent: 'goose',
    record: id,
    occurredAt,
    revision: id === undefined ? undefined : revision,
  } as const;
  return compose(part, place, envelope, drafts, key);
}

/** A message has no time of its last change. Its row number serves instead: it grows when the message is written again. */
function timesOf(row: Part) {
  const id = peek(row, 'id');
  const changed = toTime(peek(row, 'updated_at')) ?? (Number.isSafeInteger(id) ? (id as number) : 0);
  const occurredAt = toTimestamp(toTime(peek(row, 'created_timestamp') ?? peek(row, 'created_at')));
  return { revision: Math.max(0, Math.floor(changed)), occurredAt };
}

const readFacts = fields('session.meta', { cwd: 'working_dir', model: 'model_config_json.model_name' });

function readSession(row: Part): Draft[] {
  const titleBy = [1, true].includes(peek(row, 'user_set_name') as never) ? 'person' : 'agent';
  const title = takeWords(row, 'name', 'description');
  return readFacts(row, { title, titleBy: title === undefined ? undefined : titleBy });
}

/** A session from before the ledger existed, with its totals. */
function readSummed(row: Part, { origin }: RecordPlace): Draft[] {
  const responseId = peekText(row, 'id') ?? origin.session;
  return [...readSession(row), ...readTotals(row, { responseId })];
}

const countsFrom = (prefix: string) => ({
  model: 'model',
  inputTokens: `${prefix}input_tokens`,
  outputTokens: `${prefix}output_tokens`,
  cacheReadTokens: `${prefix}cache_read_tokens`,
  cacheWriteTokens: `${prefix}cache_write_tokens`,
  totalTokens: `${prefix}total_tokens`,
});

/** A response of the model. */
const readLedger = usage(countsFrom(''), 'included');
const readTotals = usage(countsFrom('accumulated_'), 'included');

/** Rows have numbers. Any other value is not a name. */
const nameUsage = (id: unknown): string => (typeof id === 'number' || typeof id === 'string' ? `usage ${id}` : 'usage');

const purposeOf = (row: Part) => (peek(row, 'is_compaction') === 1 ? 'compaction' : undefined);

const readThoughts = (part: Part) => [draft('assistant.reasoning', { text: takeText(part, 'thinking') ?? '' })];

/** A message is a list of parts. Tools answer in messages with the person's role. */
function readMessage(row: Part, { origin }: RecordPlace): Draft[] {
  const role = peekText(row, 'role');
  const parts = elementsAt(row, 'content_json');
  const typeOf = (part: Part) => peekText(part, 'type') ?? '';
  const isHidden = peek(row, 'metadata_json.userVisible') === false;
  const isPrompt = role === 'user' && !isHidden && origin.subagent === undefined;
  const kind = isHidden ? 'agent-only' : origin.subagent === undefined ? 'attached' : 'subagent-prompt';
  const prompt = isPrompt ? parts.find((part) => typeOf(part) === 'text' && peekText(part, 'text')) : undefined;

  function readText(part: Part): Draft[] {
    const text = takeWords(part, 'text');
    if (text === undefined) return [];
    if (part === prompt) return [draft('user.message', { text })];
    const isAnswer = role === 'assistant' && !isHidden;
    return [isAnswer ? draft('assistant.message', { text }) : draft('context.message', { text, kind })];
  }

  const drafts = parts.flatMap((part) =>
    typeOf(part) === 'text' ? readText(part) : (readerOf(PART_READERS, typeOf(part))?.(part) ?? []),
  );
  const images = parts.filter((part) => typeOf(part) === 'image').length;
  return isPrompt ? withImages(drafts, images) : drafts;
}

const calls = fields('tool.call', { callId: 'id', name: 'toolCall.value.name', input: 'toolCall.value.arguments' });

function readCall(part: Part): Draft[] {
  const call = calls(part);
  if (call.length > 0) return call;
  // The model's call could not be parsed. The error stays in `rest`.
  return [draft('error', { text: takeText(part, 'toolCall.error'), kind: 'toolRequest' })];
}

const results = fields('tool.result', {
  callId: 'id',
  // Old versions had only the content.
  output: ['toolResult.value.content', 'toolResult.value', 'toolResult.error'],
  isError: 'toolResult.value.isError',
  detail: 'toolResult.value.structuredContent',
});

const readResult = (part: Part): Draft[] =>
  results(part, { isError: peek(part, 'toolResult.status') === 'error' || undefined });

/** Parts of a message that are not text. */
const PART_READERS: Readers<(part: Part) => Draft[]> = {
  thinking: readThoughts,
  redactedThinking: readThoughts,
  toolRequest: readCall,
  frontendToolRequest: readCall,
  toolResponse: readResult,
  toolConfirmationRequest: notice('toolConfirmationRequest', 'prompt'),
  actionRequired: notice('actionRequired', 'data.prompt', 'data.message'),
  systemNotification: notice('systemNotification', 'msg'),
  conversationCompacted: notice('conversationCompacted', 'msg'),
};
