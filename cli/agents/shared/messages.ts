import { type Draft, draft, fields } from './events.ts';
import { at, elementsAt, type Part, peek, peekText, take, takeText, type Where } from './part.ts';

/** Readers of messages as the models' interfaces have them, and agents after these. */

/** Which response of the model something is of. */
export interface Response {
  model?: string | undefined;
  messageId?: string | undefined;
}

const readText = fields('assistant.message', { text: 'text' });
const readThought = fields('assistant.reasoning', { text: ['thinking', 'text'] });
const readCall = fields('tool.call', { callId: 'id', name: 'name', input: ['input', 'arguments'] });
const readResult = fields('tool.result', {
  callId: 'tool_use_id',
  name: 'name',
  output: 'content',
  isError: 'is_error',
});

/**
 * One block of a message: what the model said, thought or asked for, or what a tool answered. No event for a block of
 * another type: it is left where it is, and so in `rest`.
 */
export function readBlock(block: Part, { model, messageId }: Response = {}): Draft[] {
  const type = peekText(block, 'type') ?? '';
  if (/^(redacted_)?thinking$|^reasoning$/.test(type)) return readThought(block, { text: '', model, messageId });
  if (/tool[-_]use$|^tool[-_]?call$/i.test(type)) return readCall(block, { name: type, model });
  if (/tool[-_]result$/.test(type)) return readResult(block);
  return readText(block, { model, messageId });
}

/** Takes what the fields of these names were told, if an event has one; what none says stays where it is. */
export function takeSaid(record: Part, drafts: readonly Draft[], places: { [field: string]: Where }): void {
  for (const [field, where] of Object.entries(places)) {
    if (drafts.some(({ fields }) => field in fields)) take(record, where);
  }
}

/** The texts in content, which is text, a part or a list of either. */
export function textsAt(record: Part, where: Where): Part[] {
  const content = at(record, where);
  const parts = elementsAt(content, '').flatMap((element) => [element, at(element, 'text')]);
  return [content, at(content, 'text'), ...parts].filter((part) => peekText(part) !== undefined);
}

/** Texts that nobody typed. */
export const readContext = (texts: readonly Part[], kind: string): Draft[] =>
  texts.map((text) => draft('context.message', { text: takeText(text), kind }));

/** The images stay in `rest`; the prompt they belong to says how many there are. */
export function withImages(drafts: Draft[], images: number | undefined): Draft[] {
  if (!images) return drafts;
  const prompt = drafts.find(({ eventType }) => eventType === 'user.message');
  if (prompt !== undefined) prompt.fields.images = images;
  return drafts.length > 0 ? drafts : [draft('user.message', { images })];
}

/** How many images are among the elements of a list, told by their type or that of their data. */
export function countImages(record: Part, list: Where): number | undefined {
  const isImage = (element: Part) =>
    peek(element, 'type') === 'image' ||
    ['mimeType', 'inlineData.mimeType', 'fileData.mimeType'].some((type) =>
      peekText(element, type)?.startsWith('image/'),
    );
  return elementsAt(record, list).filter(isImage).length || undefined;
}
