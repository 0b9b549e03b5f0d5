import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { Agent, JsonObject, RecordPlace } from '../agent.ts';
import { compose, type Draft, draft, type Readers, readerOf, shareText } from '../shared/events.ts';
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
import { context, event, fields, quiet, readersOf } from '../shared/readers.ts';
import { GOES_ON, readMessageOf2, readTokens } from './parse-2.ts';

/** The row that a content comes from. */
interface Row {
  record: Part;
  /**
   * The record's key for the row. This is its table; for a part, the role of its message, or `summary` for a part that
   * replaces all earlier ones; for a message of version 2, `v2`; for an entry of the log, `removed` or `usage`.
   */
  key: string;
  row: Part;
  place: RecordPlace;
}

/** Reads the content of a row: one of its columns, or all of it in an export. */
type RowReader = (content: Part, row: Row) => Draft[];

const READERS: Readers<RowReader> = {
  session: readSession,
  message: readMessage,
  ...readersOf(['user', 'assistant', 'summary', 'part'], () => readPart),
  v2: (content, { row, place }) => readMessageOf2(content, peekText(row, 'type') ?? '', place),
  removed: readRemoval,
  // The model that made a title is not stored.
  usage: (content) => readTokens(content),
  ...readersOf(['todo', 'session_input'], quiet),
  session_message: (_, { row }) => [draft('record', { kind: `session_message ${peekText(row, 'type')}` })],
};

export const parserFor =
  (agent: Agent['id']) =>
  (record: JsonObject, place: RecordPlace): CapturedEvent[] => {
    const part = partOf(record);
    const key = Object.keys(READERS).find((key) => isObject(peek(part, key))) ?? '';
    const row = at(part, key);
    const content = isObject(peek(row, 'data')) ? at(row, 'data') : row;
    const drafts = READERS[key]?.(content, { record: part, key, row, place });
    if (drafts === undefined) return compose(part, place, { agent }, []);
    shareText(part, drafts, { model: 'model' });
    takeSame(part, 'root', place.origin.session);
    return compose(part, place, { agent, ...readEnvelope(part, key, row, content, place) }, drafts, key);
  };

function readEnvelope(record: Part, key: string, row: Part, content: Part, { origin }: RecordPlace) {
  const times = timesOf(record, row, content);
  for (const name of ['session_id', 'sessionID']) takeSame(row, name, origin.subagent ?? origin.session);
  return {
    record: key === 'todo' ? nameTodo(peek(row, 'position')) : takeText(row, 'id'),
    parent: takeText(row, 'message_id', 'messageID') ?? takeText(content, 'parentID'),
    revision: key === 'removed' || key === 'usage' ? undefined : Math.max(0, ...times),
    occurredAt: times[0] === undefined ? undefined : new Date(times[0]).toISOString(),
  };
}

/** Milliseconds, the earliest first. The latest is the time of the last write; in an export, almost. */
function timesOf(record: Part, row: Part, content: Part): number[] {
  const times = [
    ...[peek(record, 'created'), peek(row, 'created'), peek(row, 'time_updated'), peek(row, 'time_created')],
    ...['created', 'start', 'updated', 'completed', 'end'].map((name) => peek(content, `time.${name}`)),
    ...['start', 'end'].map((name) => peek(content, `state.time.${name}`)),
    ...elementsAt(content, 'content').flatMap((element) =>
      ['created', 'ran', 'completed'].map((name) => peek(element, `time.${name}`)),
    ),
  ];
  return times.filter((time) => isTime(time)).sort((one, other) => one - other);
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Math.abs(value as number) <= 8.64e15;

/** Rows have numbers. Any other value is not a name. */
const nameTodo = (position: unknown): string => (typeof position === 'number' ? `todo ${position}` : 'todo');

/** The agent's name for a session before it has a title. */
const UNTITLED = /^(New|Child) session - \d{4}-/;

const readFacts = fields('session.meta', { cwd: 'directory', model: 'model.id', forkedFrom: 'fork_session_id' });

function readSession(session: Part, { place: { origin } }: Row): Draft[] {
  takeSame(session, 'version', origin.agentVersion);
  const isUntitled = UNTITLED.test(peekText(session, 'title') ?? '');
  const title = isUntitled ? undefined : takeText(session, 'title');
  return readFacts(session, { title, titleBy: title === undefined ? undefined : 'agent' });
}

/** The person undid this. The rows are gone, together with changes that capture did not see in time. */
function readRemoval(removal: Part): Draft[] {
  const from = peekWords(removal, 'to');
  const id = peekWords(removal, 'partID', 'messageID') ?? 'a message';
  const text = from === undefined ? `Taken back: ${id}` : `Taken back: everything from ${from}`;
  return [draft('notice', { text, kind: 'removed' })];
}

/** Fields of the message itself. Its parts contain the content. */
function readMessage(message: Part): Draft[] {
  const role = peekText(message, 'role');
  if (role === 'user') {
    const model = takeText(message, 'model.modelID', 'modelID');
    return [model === undefined ? draft('record', { kind: 'user' }) : draft('session.meta', { model })];
  }
  if (role !== 'assistant') return [];
  if (peek(message, 'error') === undefined) return [draft('record', { kind: 'assistant' })];
  const name = takeText(message, 'error.name');
  if (name === 'MessageAbortedError') return [draft('turn.finished', { reason: name })];
  return [draft('error', { text: takeText(message, 'error.data.message', 'error.message'), kind: name })];
}

const PART_READERS: Readers<RowReader> = {
  text: readText,
  reasoning: event('assistant.reasoning', { text: 'text' }),
  tool: readTool,
  'step-finish': readStepFinish,
  ...readersOf(['step-start', 'patch', 'snapshot', 'compaction'], quiet),
  // Text that the program or the person put into the conversation, with its kind.
  ...readersOf(['file', 'agent'], (kind) => context(kind)),
  subtask: context('subtask', 'prompt'),
  retry: event('error', { text: ['error.data.message', 'error.message'] }, { kind: 'retry' }),
};

function readPart(part: Part, row: Row): Draft[] {
  const type = peekText(part, 'type') ?? '';
  const drafts = readerOf(PART_READERS, type)?.(part, row) ?? [];
  return drafts.length > 0 ? drafts : [draft('record', { kind: type || undefined })];
}

function readText(part: Part, { key, place }: Row): Draft[] {
  const text = takeWords(part, 'text');
  // The part has begun but has no text yet.
  if (text === undefined) return [draft('record', { kind: 'text' })];
  if (key === 'summary') return [draft('compaction', { summary: text })];
  const isOfModel = key === 'assistant' || (key === 'part' && peek(part, 'time') !== undefined);
  if (isOfModel) return [draft('assistant.message', { text })];
  if (peek(part, 'synthetic') === true) return [draft('context.message', { text, kind: 'synthetic' })];
  // A plugin showed this to the person and not to the model.
  if (peek(part, 'ignored') === true) return [draft('notice', { text, kind: 'ignored' })];
  if (place.origin.subagent !== undefined) return [draft('context.message', { text, kind: 'subagent-prompt' })];
  return [draft('user.message', { text })];
}

const readCall = fields('tool.call', { callId: 'callID', name: 'tool', input: 'state.input' });
const readResult = fields('tool.result', {
  output: ['state.error', 'state.output'],
  exitCode: 'state.metadata.exit',
  detail: 'state.metadata',
});

function readTool(part: Part): Draft[] {
  const [call] = readCall(part);
  if (call === undefined) return [];
  const { callId, name } = call.fields as { callId?: string; name: string };
  const subagent = name === 'task' ? takeText(part, 'state.metadata.sessionId') : undefined;
  const link = subagent === undefined ? [] : [draft('subagent.started', { subagent, callId })];
  const status = peekText(part, 'state.status');
  if (status === 'pending' || status === 'running' || status === undefined) return [call, ...link];
  const exitCode = peek(part, 'state.metadata.exit');
  const hasFailed = Number.isInteger(exitCode) && exitCode !== 0;
  // A call of an unknown tool, or with wrong arguments, is stored as a call of this tool.
  const isError = status === 'error' || name === 'invalid' || hasFailed || undefined;
  return [call, ...link, ...readResult(part, { callId, isError })];
}

/** A response of the model is over. The message only has the tokens of its last response. */
function readStepFinish(part: Part, { record, key }: Row): Draft[] {
  const model = peekText(record, 'model');
  const purpose = key === 'summary' ? 'compaction' : undefined;
  const isTurn = key === 'assistant' && !GOES_ON.has(peekText(part, 'reason'));
  const end = isTurn ? [draft('turn.finished', { reason: takeText(part, 'reason') })] : [];
  const tokens = readTokens(part, purpose).map(({ fields }) => draft('usage', { ...fields, model }));
  return [...tokens, ...end];
}
