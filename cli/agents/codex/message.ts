import { type Draft, draft } from '../compose.ts';
import { type Path, peek, type Remainder } from '../remainder.ts';
import { lengthAt, peekText, takeText } from '../typed.ts';

/** A message of the assistant, or one put before it. */
export function readMessage(remainder: Remainder, at: Path): Draft[] {
  const role = peekText(remainder, ...at, 'role');
  const parts = textsOf(remainder, [...at, 'content']);
  if (role === 'assistant') {
    const messageId = peekText(remainder, ...at, 'id');
    return parts.map((part) => draft('assistant.message', { text: takeText(remainder, ...part) ?? '', messageId }));
  }
  const [first] = parts;
  const kind =
    role === 'user' ? injectedKind(remainder, at, first && peekText(remainder, ...first)) : (role ?? 'message');
  if (kind !== undefined) return parts.map((part) => readContext(remainder, part, kind));
  // Without an envelope, or the type in it, there are no events that say the prompt.
  if (peek(remainder, 'payload', 'type') !== undefined) return [draft('record', { kind: 'duplicate:user_message' })];
  return parts.map((part) => draft('user.message', { text: takeText(remainder, ...part) }));
}

function readContext(remainder: Remainder, part: Path, kind: string): Draft {
  const text = takeText(remainder, ...part);
  return draft('context.message', { text, kind: openingTag(text) ?? kind });
}

/** Why a message of the user is no prompt; `undefined` if a person typed it. */
function injectedKind(remainder: Remainder, at: Path, text = ''): string | undefined {
  const kinds = peek(remainder, ...at, 'internal_chat_message_metadata_passthrough', 'content_item_kinds');
  if (Array.isArray(kinds) && kinds.length > 0) {
    return kinds.some((kind) => String(kind).startsWith('user.')) ? undefined : String(kinds[0]);
  }
  if (text.startsWith('# AGENTS.md instructions')) return 'user_instructions';
  return openingTag(text);
}

/** Injected texts are wrapped in a tag: `<environment_context>`, `<permissions instructions>`. */
const openingTag = (text = ''): string | undefined => /^\s*<([a-z][a-z_-]*)[ >]/.exec(text)?.[1];

function textsOf(remainder: Remainder, content: Path): Path[] {
  if (peekText(remainder, ...content) !== undefined) return [content];
  const parts = Array.from({ length: lengthAt(remainder, ...content) }, (_, index) => [...content, index, 'text']);
  return parts.filter((part) => peekText(remainder, ...part) !== undefined);
}
