import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { type Path, peek, type Remainder } from '../remainder.ts';
import { lengthAt, peekText, takeFirstText, takeText } from '../typed.ts';
import { injectedKind } from './injected.ts';

/** What was put before the model besides the prompt, and what hooks said. */
export function readAttachment(remainder: Remainder, place: RecordPlace): Draft[] {
  const kind = peekText(remainder, 'attachment', 'type') ?? 'attachment';
  if (kind === 'queued_command') return readQueued(remainder, place);
  if (kind.startsWith('hook_') && kind !== 'hook_additional_context') return [readHook(remainder, kind)];
  const texts = LISTS.flatMap(([list, ...path]) => readList(remainder, kind, list, path));
  return texts.length > 0 ? texts : [draft('context.message', { text: takeFirstText(remainder, ...TEXTS), kind })];
}

/** Lists of texts: as they were put before the model, which newer versions keep, or as parts of the attachment. */
const LISTS: readonly (readonly [list: Path, ...path: string[]])[] = [
  [['rendered'], 'content'],
  [['attachment', 'content']],
];

function readList(remainder: Remainder, kind: string, list: Path, path: Path): Draft[] {
  const indexes = Array.from({ length: lengthAt(remainder, ...list) }, (_, index) => index);
  const texts = indexes.map((index) => takeText(remainder, ...list, index, ...path));
  return texts.filter((text) => text !== undefined).map((text) => draft('context.message', { text, kind }));
}

/** Where attachments keep their text, in order of preference. */
const TEXTS: readonly Path[] = [
  ['attachment', 'content'],
  ['attachment', 'content', 'content'],
  ['attachment', 'content', 'file', 'content'],
  ['attachment', 'snippet'],
  ['attachment', 'text'],
  ['attachment', 'banner'],
  ['attachment', 'stdout'],
];

/** What was typed, or arrived, while the agent was at work; it is in no user's record. */
function readQueued(remainder: Remainder, place: RecordPlace): Draft[] {
  const mode = peekText(remainder, 'attachment', 'commandMode');
  const drafts = queuedTexts(remainder).map((at) => {
    const injected = injectedKind(remainder, place, peekText(remainder, ...at) ?? '') ?? injectedMode(remainder, mode);
    const text = takeText(remainder, ...at);
    if (injected !== undefined) return draft('context.message', { text, kind: injected });
    return draft('user.message', { text });
  });
  return drafts.length > 0 ? drafts : [draft('context.message', { kind: mode ?? 'queued_command' })];
}

function injectedMode(remainder: Remainder, mode: string | undefined): string | undefined {
  if (peek(remainder, 'attachment', 'isMeta') === true) return 'meta';
  const origin = peekText(remainder, 'attachment', 'origin', 'kind');
  if (origin !== undefined && origin !== 'human') return origin;
  return mode === 'prompt' ? undefined : (mode ?? 'queued_command');
}

function queuedTexts(remainder: Remainder): Path[] {
  const prompt: Path = ['attachment', 'prompt'];
  if (peekText(remainder, ...prompt) !== undefined) return [prompt];
  const blocks = Array.from({ length: lengthAt(remainder, ...prompt) }, (_, index) => [...prompt, index, 'text']);
  return blocks.filter((at) => peekText(remainder, ...at) !== undefined);
}

function readHook(remainder: Remainder, kind: string): Draft {
  const places: Path[] = [
    ['attachment', 'content'],
    ['attachment', 'blockingError', 'blockingError'],
    ['attachment', 'blockingError'],
    ['attachment', 'stderr'],
    ['attachment', 'stdout'],
  ];
  // The first that says something: hooks mostly write '' into the others.
  const at = places.find((path) => peekText(remainder, ...path));
  const text = at && takeText(remainder, ...at);
  return draft('notice', { text, kind });
}
