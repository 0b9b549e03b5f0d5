import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace } from '../agent.ts';
import { compose, type Draft, draft, event, fields, quiet, usage } from '../shared/events.ts';
import {
  at,
  isObject,
  type Part,
  partOf,
  peek,
  peekText,
  peekWords,
  take,
  takeInteger,
  takeSame,
  takeText,
} from '../shared/part.ts';

/** A row of the database, or the same thing in an export, where its columns and its content are one. */
interface Row {
  record: Part;
  row: Part;
  content: Part;
  place: RecordPlace;
}

/** Reads a record by the key it stands under; of parts that is whose message it is of, `summary` for one that replaces all before. */
type KindReader = (row: Row, key: string) => Draft[];

const READERS: ReadonlyMap<string, KindReader> = new Map<string, KindReader>([
  ['session', readSession],
  ['message', ({ content }) => readMessage(content)],
  ['user', readPart],
  ['assistant', readPart],
  ['summary', readPart],
  ['part', readPart],
  ['removed', ({ row }) => readRemoval(row)],
  ['todo', ({ row }) => quiet('todo')(row)],
  ['session_message', ({ row }) => quiet(`session_message ${peekText(row, 'type')}`)(row)],
  ['session_input', ({ row }) => quiet('session_input')(row)],
]);

export const parserFor =
  (agent: Agent['id']) =>
  (record: JsonObject, place: RecordPlace): CapturedEvent[] => {
    const part = partOf(record);
    const [key, read] = [...READERS].find(([key]) => Object.hasOwn(record, key) && isObject(record[key])) ?? [];
    if (key === undefined || read === undefined) return compose(part, place, { agent }, []);
    const row = at(part, key);
    const content = isObject(peek(row, 'data')) ? at(row, 'data') : row;
    const envelope = readEnvelope(part, key, row, content, place);
    return compose(part, place, { agent, ...envelope }, read({ record: part, row, content, place }, key), key);
  };

function readEnvelope(record: Part, key: string, row: Part, content: Part, { origin }: RecordPlace) {
  const times = timesOf(record, row, content);
  const created = times[0];
  for (const name of ['session_id', 'sessionID']) takeSame(row, name, origin.subagent ?? origin.session);
  return {
    record: key === 'todo' ? nameTodo(peek(row, 'position')) : takeText(row, 'id'),
    parent: takeText(row, 'message_id', 'messageID') ?? takeText(content, 'parentID'),
    revision: key === 'removed' ? undefined : Math.max(0, ...times),
    ...(created !== undefined && { occurredAt: new Date(created).toISOString() }),
  };
}

/** Milliseconds, the earliest first; the latest is when it was written last, nearly so in an export. */
function timesOf(record: Part, row: Part, content: Part): number[] {
  const times = [
    ...[peek(record, 'created'), peek(row, 'time_updated'), peek(row, 'time_created')],
    ...['created', 'start', 'updated', 'completed', 'end'].map((name) => peek(content, `time.${name}`)),
    ...['start', 'end'].map((name) => peek(content, `state.time.${name}`)),
  ];
  return times.filter((time) => isTime(time)).sort((one, other) => one - other);
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Math.abs(value as number) <= 8.64e15;

/** Rows have numbers; whatever else stands there is no name. */
const nameTodo = (position: unknown): string => (typeof position === 'number' ? `todo ${position}` : 'todo');

/** What the agent calls a session until it has thought of a title. */
const UNTITLED = /^(New|Child) session - \d{4}-/;

const readFacts = fields('session.meta', { title: 'title', cwd: 'directory', model: 'model.id' });
const readUntitled = fields('session.meta', { cwd: 'directory', model: 'model.id' });

function readSession({ record, content, place: { origin } }: Row): Draft[] {
  const title = peekText(content, 'title');
  takeSame(content, 'version', origin.agentVersion);
  takeSame(record, 'root', origin.session);
  return title === undefined || UNTITLED.test(title) ? readUntitled(content) : readFacts(content, { titleBy: 'agent' });
}

/** Undone by the person: the rows are gone, and with them what this capture did not see in time. */
function readRemoval(row: Part): Draft[] {
  const id = peekWords(row, 'data.partID') ?? peekWords(row, 'data.messageID') ?? 'a message';
  return [draft('notice', { text: `Taken back: ${id}`, kind: 'removed' })];
}

/** What a message says itself: what is said in it stands in its parts. */
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

type PartReader = (row: Row, role: string) => Draft[];

/** Of a part alone, without what is around it. */
const alone =
  (read: (part: Part) => Draft[]): PartReader =>
  ({ content }) =>
    read(content);

const PART_READERS: ReadonlyMap<string, PartReader> = new Map<string, PartReader>([
  ['text', readText],
  ['reasoning', readReasoning],
  ['tool', readTool],
  ['step-finish', readStepFinish],
  ...['step-start', 'patch', 'snapshot', 'compaction'].map((kind): [string, PartReader] => [kind, alone(quiet(kind))]),
  // Text that the program or the person put into the conversation, told by its kind.
  ...['file', 'agent'].map((kind): [string, PartReader] => [kind, () => [draft('context.message', { kind })]]),
  ['subtask', alone(event('context.message', { text: 'prompt' }, { kind: 'subtask' }))],
  ['retry', alone(event('error', { text: ['error.data.message', 'error.message'] }, { kind: 'retry' }))],
]);

function readPart(row: Row, role: string): Draft[] {
  const type = peekText(row.content, 'type') ?? '';
  const drafts = PART_READERS.get(type)?.(row, role) ?? [];
  return drafts.length > 0 ? drafts : [draft('record', { kind: type || undefined })];
}

function readText(row: Row, role: string): Draft[] {
  const { content, place } = row;
  // Begun, but nothing said yet.
  if (!peekText(content, 'text')) return [draft('record', { kind: 'text' })];
  const text = takeText(content, 'text') ?? '';
  if (role === 'summary') return [draft('compaction', { summary: text })];
  if (role === 'assistant' || (role === 'part' && peek(content, 'time') !== undefined)) {
    return [draft('assistant.message', { text, model: takeText(row.record, 'model') })];
  }
  if (peek(content, 'synthetic') === true) return [draft('context.message', { text, kind: 'synthetic' })];
  // Shown to the person and not to the model, by a plugin.
  if (peek(content, 'ignored') === true) return [draft('notice', { text, kind: 'ignored' })];
  if (place.origin.subagent !== undefined) return [draft('context.message', { text, kind: 'subagent-prompt' })];
  return [draft('user.message', { text })];
}

function readReasoning({ record, content }: Row): Draft[] {
  return [draft('assistant.reasoning', { text: takeText(content, 'text') ?? '', model: takeText(record, 'model') })];
}

const calls = fields('tool.call', { callId: 'callID', name: 'tool', input: 'state.input' });

function readTool({ record, content }: Row): Draft[] {
  const [call] = calls(content);
  if (call === undefined) return [];
  const { callId, name } = call.fields as { callId?: string; name: string };
  const model = takeText(record, 'model');
  if (model !== undefined) call.fields.model = model;
  const subagent = name === 'task' ? takeText(content, 'state.metadata.sessionId') : undefined;
  const link = subagent === undefined ? [] : [draft('subagent.started', { subagent, callId })];
  const status = peekText(content, 'state.status');
  if (status === 'pending' || status === 'running' || status === undefined) return [call, ...link];
  const error = status === 'error' ? take(content, 'state.error') : undefined;
  const output = error ?? take(content, 'state.output');
  const exitCode = takeInteger(content, 'state.metadata.exit');
  // A call of a tool that does not exist, or with wrong arguments, is put down as one of this tool.
  const isError = status === 'error' || name === 'invalid' || (exitCode ?? 0) !== 0 || undefined;
  const detail = take(content, 'state.metadata');
  return [call, ...link, draft('tool.result', { callId, output, isError, exitCode, detail })];
}

const readTokens = usage(
  {
    inputTokens: 'tokens.input',
    outputTokens: 'tokens.output',
    reasoningTokens: 'tokens.reasoning',
    cacheReadTokens: 'tokens.cache.read',
    cacheWriteTokens: 'tokens.cache.write',
    totalTokens: 'tokens.total',
  },
  'excluded',
);

/** A response of the model is over. The message tells only the tokens of its last one. */
function readStepFinish({ record, content }: Row, role: string): Draft[] {
  const [tokens] = readTokens(content);
  const model = tokens && takeText(record, 'model');
  if (tokens !== undefined && model !== undefined) tokens.fields.model = model;
  const drafts = tokens === undefined ? [] : [tokens];
  const isTurn = role === 'assistant' && !GOES_ON.has(peekText(content, 'reason'));
  return isTurn ? [...drafts, draft('turn.finished', { reason: takeText(content, 'reason') })] : drafts;
}

/** Why a response ends that another one follows. */
const GOES_ON: ReadonlySet<unknown> = new Set(['tool-calls', 'unknown', undefined]);
