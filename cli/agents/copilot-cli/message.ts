import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { context, countImages, elementsAt, peekWords, type Readers } from '../reader.ts';
import { type Path, type Remainder, take } from '../remainder.ts';
import { lengthAt, peekText, takeText } from '../typed.ts';
import { readOutputTokens } from './usage.ts';

export const MESSAGE_KINDS: Readers = [
  ['user.message', readUser],
  ['assistant.message', readAssistant],
  ['assistant.reasoning', readReasoning],
  ['system.message', context('system', ['data', 'content'])],
  ['system.notification', readNotification],
];

function readUser(remainder: Remainder, place: RecordPlace): Draft[] {
  const kind = injectedKind(remainder, place);
  const images = countImages(remainder, 'data', 'attachments');
  const text = takeText(remainder, 'data', 'content');
  const message =
    kind === undefined ? draft('user.message', { text, images }) : draft('context.message', { text, kind });
  // As it was sent to the model, with what the program put around it.
  const isSentAsTyped = peekText(remainder, 'data', 'transformedContent') === text;
  const sent = isSentAsTyped ? undefined : takeText(remainder, 'data', 'transformedContent');
  return sent ? [message, draft('context.message', { text: sent, kind: 'transformed-prompt' })] : [message];
}

/** Why a user's message is no prompt; `undefined` if a person typed it. */
function injectedKind(remainder: Remainder, place: RecordPlace): string | undefined {
  const source = peekWords(remainder, 'data', 'source');
  if (source !== undefined && source !== 'user') return source;
  if (place.origin.subagent !== undefined) return 'subagent-prompt';
  return peekText(remainder, 'data', 'content')?.startsWith('<skill-context') ? 'skill' : undefined;
}

function readAssistant(remainder: Remainder): Draft[] {
  const model = peekText(remainder, 'data', 'model');
  const messageId = peekText(remainder, 'data', 'messageId');
  const drafts: Draft[] = [];
  const thought = takeText(remainder, 'data', 'reasoningText');
  if (thought !== undefined) drafts.push(draft('assistant.reasoning', { text: thought, model, messageId }));
  // Of a response that only asks for tools the text is empty.
  const isSilent = lengthAt(remainder, 'data', 'toolRequests') > 0 && !peekWords(remainder, 'data', 'content');
  const text = isSilent ? undefined : takeText(remainder, 'data', 'content');
  if (text !== undefined) drafts.push(draft('assistant.message', { text, model, messageId }));
  const calls = elementsAt(remainder, 'data', 'toolRequests');
  drafts.push(...calls.flatMap((at) => readRequest(remainder, at, model)));
  drafts.push(...readOutputTokens(remainder, model));
  // What no event says stays where it is.
  if (drafts.some(({ fields }) => 'model' in fields)) take(remainder, 'data', 'model');
  if (drafts.some(({ fields }) => 'messageId' in fields)) take(remainder, 'data', 'messageId');
  return drafts;
}

function readRequest(remainder: Remainder, at: Path, model: string | undefined): Draft[] {
  const name = takeText(remainder, ...at, 'name');
  if (name === undefined) return [];
  const callId = takeText(remainder, ...at, 'toolCallId');
  const input = take(remainder, ...at, 'arguments');
  return [draft('tool.call', { callId, name, input, model })];
}

function readReasoning(remainder: Remainder): Draft[] {
  const text = takeText(remainder, 'data', 'content');
  if (text === undefined) return [];
  return [draft('assistant.reasoning', { text, messageId: takeText(remainder, 'data', 'reasoningId') })];
}

function readNotification(remainder: Remainder): Draft[] {
  const kind = peekText(remainder, 'data', 'kind', 'type') ?? 'notification';
  return [draft('context.message', { text: takeText(remainder, 'data', 'content'), kind })];
}
