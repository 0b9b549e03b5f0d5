import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { JsonObject, RecordPlace } from '../agent.ts';
import { compose, type Draft, draft } from '../shared/events.ts';
import { countImages, readContext, readPrompt, textsAt } from '../shared/messages.ts';
import { parser } from '../shared/parser.ts';
import { elementsAt, type Part, partOf, peek, peekText, peekWords, takeText } from '../shared/part.ts';
import { event, facts, fields, notice, usage } from '../shared/readers.ts';

export function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  return parseCheckpoint(partOf(record), place) ?? parseLine(record, place);
}

const parseLine = parser({
  agent: 'gemini-cli',
  // A line that is not a message is recognised by its fields.
  kindOf: (part) => peekWords(part, 'type') ?? CHANGES.find((name) => peek(part, name) !== undefined) ?? '',
  readers: {
    user: readUser,
    gemini: readAnswer,
    model: readAnswer, // as it was called at first
    info: notice('info', 'content'),
    warning: notice('warning', 'content'),
    error: event('error', { text: 'content' }, { kind: 'error' }),
    $set: readChange,
    $rewindTo: readRewind,
    projectHash: facts({ title: 'summary' }, 'agent'),
  },
  envelope: { record: 'id', occurredAt: ['timestamp', 'startTime', '$set.lastUpdated'] },
  writingOf: (part, { position }) => (peekText(part, 'id') === undefined ? {} : { revision: position }),
  origin: { sessionId: 'session' },
  shared: { model: 'model' },
});

const CHANGES = ['$set', '$rewindTo', 'projectHash'];

function readUser(part: Part, place: RecordPlace): Draft[] {
  const texts = textsAt(part, 'content');
  if (place.origin.subagent !== undefined) return readContext(texts, 'subagent-prompt');
  const hasAnswer = elementsAt(part, 'content').some((said) => peek(said, 'functionResponse') !== undefined);
  const isAnswer = texts.length === 0 && countImages(part, 'content') === undefined && hasAnswer;
  return isAnswer ? [draft('record', { kind: 'duplicate:tool_result' })] : readPrompt(part, PROMPT);
}

const PROMPT = {
  sent: 'content',
  shown: 'displayContent',
  injected: /^\s*<(session_context|system-reminder|hook_context)/,
  kind: 'session_context',
};

const readThought = fields('assistant.reasoning', { text: 'description' });
const readText = fields('assistant.message', { text: '' });
const readUsage = usage(
  {
    inputTokens: 'tokens.input',
    outputTokens: 'tokens.output',
    cacheReadTokens: 'tokens.cached',
    reasoningTokens: 'tokens.thoughts',
    totalTokens: 'tokens.total',
  },
  'included',
);

/** One response of the model, with its tool calls and, in a later writing, their answers. */
function readAnswer(part: Part): Draft[] {
  const messageId = peekText(part, 'id');
  // A response that only calls tools has an empty text.
  const texts = [...textsAt(part, 'content'), ...textsAt(part, 'parts')].filter((text) => peekText(text) !== '');
  return [
    ...elementsAt(part, 'thoughts').flatMap((thought) => readThought(thought, { text: '', messageId })),
    ...texts.flatMap((text) => readText(text, { messageId })),
    ...readUsage(part, { responseId: messageId }),
    ...elementsAt(part, 'toolCalls').flatMap(readTool),
  ];
}

const readCall = fields('tool.call', { callId: 'id', name: 'name', input: 'args' });
/** A tool's answer to the model is mostly one text, with the call's id and name around it. */
const readResult = fields('tool.result', {
  name: 'result.0.functionResponse.name',
  output: ['result.0.functionResponse.response.output', 'result.0.functionResponse.response.error', 'result'],
  detail: 'resultDisplay',
});

function readTool(tool: Part): Draft[] {
  const [call] = readCall(tool);
  if (call === undefined) return [];
  const { callId } = call.fields as { callId?: string };
  const status = peekText(tool, 'status') ?? '';
  const isError = /^(error|cancelled)$/.test(status) || undefined;
  const hasAnswer = status === 'success' || isError || peek(tool, 'result') || peek(tool, 'resultDisplay');
  return hasAnswer ? [call, ...readResult(tool, { callId, isError })] : [call];
}

/** A change is mostly just the time of the last change, which repeats the time of the message before it. */
function readChange(part: Part): Draft[] {
  const title = takeText(part, '$set.summary');
  if (title !== undefined) return [draft('session.meta', { title, titleBy: 'agent' })];
  const changed = Object.keys((peek(part, '$set') ?? {}) as object);
  return [draft('record', { kind: changed.join() === 'lastUpdated' ? 'duplicate:lastUpdated' : '$set' })];
}

function readRewind(part: Part): Draft[] {
  const text = `Went back to before message ${peekText(part, '$rewindTo') ?? ''}: what was said since counts no more`;
  return [draft('notice', { text, kind: 'rewind' })];
}

/** A whole history that replaces the previous one. Undefined if the record is not one. */
function parseCheckpoint(part: Part, place: RecordPlace): CapturedEvent[] | undefined {
  const messages = elementsAt(part, '$set.messages');
  if (messages.length === 0 || peek(part, 'id') !== undefined) return undefined;
  // Every checkpoint of a session repeats them, so they are revisions of one record.
  const said = messages.flatMap((message) => readSaid(message, place));
  const occurredAt = takeText(part, '$set.lastUpdated');
  const checkpoint = draft('context.message', { kind: 'checkpoint' });
  const events = [...compose(part, place, { agent: 'gemini-cli', occurredAt }, [checkpoint]), ...said];
  if (events.length > 1) for (const [index, { payload }] of events.entries()) payload.source.index = index;
  return events;
}

/** Content that only a checkpoint contains. */
function readSaid(message: Part, place: RecordPlace): CapturedEvent[] {
  const [only, ...others] = textsAt(message, 'content');
  if (only === undefined || others.length > 0 || peekText(message, 'type') !== 'user') return [];
  const [, tag] = /^\s*<(session_context|state_snapshot)>/.exec(peekText(only) ?? '') ?? [];
  if (tag === undefined) return [];
  const text = takeText(only);
  const isSummary = tag === 'state_snapshot';
  const said = isSummary ? draft('compaction', { summary: text }) : draft('context.message', { text, kind: tag });
  const envelope = {
    agent: 'gemini-cli',
    record: takeText(message, 'id'),
    revision: place.position,
    occurredAt: takeText(message, 'timestamp'),
  } as const;
  const [event] = compose(partOf({}), place, envelope, [said]);
  // The rest of the message stays in the checkpoint.
  if (event !== undefined) delete event.payload.rest;
  return event === undefined ? [] : [event];
}
