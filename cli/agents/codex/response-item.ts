import { type Draft, draft, type Readers, readerOf } from '../shared/events.ts';
import { readContext, textsAt } from '../shared/messages.ts';
import { type Part, peek, peekText, takeText } from '../shared/part.ts';
import { fields } from '../shared/readers.ts';

type ItemReader = (item: Part, type: string, record: Part) => Draft[];

/** Messages to or from the model. */
export function readResponseItem(record: Part, item: Part): Draft[] {
  const type = peekText(item, 'type') ?? 'message';
  return findReader(type)?.(item, type, record) ?? [];
}

/** Before the envelope existed, these types had a line of their own. */
export const isResponseItem = (type: string): boolean => findReader(type) !== undefined;

function findReader(type: string): ItemReader | undefined {
  if (type.endsWith('_call')) return readCall;
  return type.endsWith('_output') ? readOutput : readerOf(READERS, type);
}

const calls = fields('tool.call', { callId: 'call_id', name: 'name', input: ['arguments', 'input', 'action'] });
const outputs = fields('tool.result', { callId: 'call_id', output: ['output', 'tools'] });

/** The vendor's own tools have no name but the item's type, and their input has other names. */
const readCall: ItemReader = (item, type) =>
  calls(item, { callId: peekText(item, 'id'), name: type.replace(/_call$/, '') });

const readOutput: ItemReader = (item) => outputs(item);

const READERS: Readers<ItemReader> = {
  message: readMessage,
  reasoning: readReasoning,
  // A message between agents is sent to the model like other context.
  agent_message: (item) => readContext(textsAt(item, 'content'), 'agent_message'),
  additional_tools: () => [draft('context.message', { kind: 'additional_tools' })],
};

/** One event for each readable part. Most thoughts are only there in encrypted form, and stay in `rest`. */
function readReasoning(item: Part): Draft[] {
  const messageId = peekText(item, 'id');
  const texts = ['summary', 'content'].flatMap((list) => textsAt(item, list)).map((text) => takeText(text) ?? '');
  return (texts.length > 0 ? texts : ['']).map((text) => draft('assistant.reasoning', { text, messageId }));
}

/** A message of the assistant, or one that was sent to it. */
function readMessage(item: Part, _type: string, record: Part): Draft[] {
  const role = peekText(item, 'role');
  const texts = textsAt(item, 'content');
  if (role === 'assistant') {
    const messageId = peekText(item, 'id');
    return texts.map((text) => draft('assistant.message', { text: takeText(text) ?? '', messageId }));
  }
  const [first] = texts;
  const kind = role === 'user' ? injectedKind(item, first && peekText(first)) : (role ?? 'message');
  if (kind !== undefined) return readTexts(item, kind);
  // Without an envelope, or with an envelope but no type in it, no other event has the prompt.
  if (peek(record, 'payload.type') !== undefined) return [draft('record', { kind: 'duplicate:user_message' })];
  return texts.map((text) => draft('user.message', { text: takeText(text) }));
}

const readTexts = (item: Part, kind: string): Draft[] =>
  textsAt(item, 'content').map((part) => {
    const text = takeText(part);
    return draft('context.message', { text, kind: openingTag(text) ?? kind });
  });

/** Why a user message is not a prompt. `undefined` if a person typed it. */
function injectedKind(item: Part, text = ''): string | undefined {
  const kinds = peek(item, 'internal_chat_message_metadata_passthrough.content_item_kinds');
  if (Array.isArray(kinds) && kinds.length > 0) {
    return kinds.some((kind) => String(kind).startsWith('user.')) ? undefined : String(kinds[0]);
  }
  if (text.startsWith('# AGENTS.md instructions')) return 'user_instructions';
  return openingTag(text);
}

/** Injected texts are wrapped in a tag: `<environment_context>`, `<permissions instructions>`. */
const openingTag = (text = ''): string | undefined => /^\s*<([a-z][a-z_-]*)[ >]/.exec(text)?.[1];
