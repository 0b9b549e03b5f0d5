import { type Draft, draft } from './events.ts';
import { at, elementsAt, type Part, peek, peekText, takeText, type Where } from './part.ts';
import { fields } from './readers.ts';

/** Readers of messages in the form of the models' interfaces, which many agents copy. */

const readText = fields('assistant.message', { text: ['text', ''] });
const readThought = fields('assistant.reasoning', { text: ['thinking', 'text'] });
const readCall = fields('tool.call', { callId: 'id', name: 'name', input: ['input', 'arguments'] });
const readResult = fields('tool.result', {
  callId: 'tool_use_id',
  name: 'name',
  output: 'content',
  isError: 'is_error',
});

/**
 * One block of a message: text, thought or tool call of the model, or a tool's result. A block of another type makes no
 * event. It stays where it is, and so in `rest`.
 */
export function readBlock(block: Part): Draft[] {
  const type = peekText(block, 'type') ?? '';
  if (/^(redacted_)?thinking$|^reasoning$/.test(type)) return readThought(block, { text: '' });
  if (/tool[-_]use$|^tool[-_]?call$/i.test(type)) return readCall(block, { name: type });
  if (/tool[-_]result$/.test(type)) return readResult(block);
  return readText(block);
}

/** The model's answer: text, or blocks. */
export const readResponse = (part: Part, content: Where): Draft[] => blocksAt(part, content).flatMap(readBlock);

/** Input in the person's role: results of tools, and texts. `kindOf` returns why a text was not typed. */
export function readInput(part: Part, content: Where, kindOf: (text: string, block: Part) => string | undefined) {
  const drafts = blocksAt(part, content).flatMap((block) => {
    const from = [at(block, 'text'), block].find((text) => peekText(text) !== undefined);
    if (from === undefined || peek(block, 'type') === 'tool_result') return readBlock(block);
    return [readTyped(from, kindOf(peekText(from) ?? '', block))];
  });
  return withImages(drafts, countImages(part, content));
}

/** A text in the person's role: a prompt, or a text whose kind says why it is not one. */
export function readTyped(from: Part, kind: string | undefined): Draft {
  const text = takeText(from);
  return kind === undefined ? draft('user.message', { text }) : draft('context.message', { text, kind });
}

function blocksAt(part: Part, content: Where): Part[] {
  const whole = at(part, content);
  return peekText(whole) === undefined ? elementsAt(whole, '') : [whole];
}

/** The texts in content, which is text, a part or a list of either. */
export function textsAt(record: Part, where: Where): Part[] {
  const content = at(record, where);
  const parts = elementsAt(content, '').flatMap((element) => [element, at(element, 'text')]);
  return [content, at(content, 'text'), ...parts].filter((part) => peekText(part) !== undefined);
}

/** Where Gemini CLI and its relatives store a prompt. */
interface Prompt {
  /** The content sent to the model: the prompt, then files. */
  sent: Where;
  /** The typed text, if it differs from the content sent to the model. */
  shown: Where;
  /** Openings of texts that the program added, and their kinds. */
  injected: RegExp;
  kind: string;
}

export function readPrompt(part: Part, { sent, shown, injected, kind }: Prompt): Draft[] {
  const images = countImages(part, sent);
  const texts = textsAt(part, sent);
  const isInjected = (text: Part) => injected.test(peekText(text) ?? '');
  const [first, ...attached] = texts.filter((text) => !isInjected(text));
  const [display] = textsAt(part, shown);
  const isFirst = display === undefined || (first !== undefined && peekText(first) === peekText(display));
  const typed = isFirst ? first : display;
  const text = typed && takeText(typed);
  // A record with only injected texts is not a prompt.
  const prompt = text === undefined && images === undefined ? [] : [draft('user.message', { text, images })];
  return [
    ...prompt,
    ...readContext(isFirst || first === undefined ? [] : [first], 'transformed-prompt'),
    ...readContext(attached, 'attached'),
    ...readContext(texts.filter(isInjected), kind),
  ];
}

/** Texts that nobody typed. */
export const readContext = (texts: readonly Part[], kind: string): Draft[] =>
  texts.map((text) => draft('context.message', { text: takeText(text), kind }));

/** The images stay in `rest`. Their prompt carries their number. */
export function withImages(drafts: Draft[], images: number | undefined): Draft[] {
  if (!images) return drafts;
  const prompt = drafts.find(({ eventType }) => eventType === 'user.message');
  if (prompt !== undefined) prompt.fields.images = images;
  return drafts.length > 0 ? drafts : [draft('user.message', { images })];
}

/** The number of images in a list, by the type of each element or of its data. */
export function countImages(record: Part, list: Where): number | undefined {
  const isImage = (element: Part) =>
    peek(element, 'type') === 'image' ||
    ['mimeType', 'inlineData.mimeType', 'fileData.mimeType'].some((type) =>
      peekText(element, type)?.startsWith('image/'),
    );
  return elementsAt(record, list).filter(isImage).length || undefined;
}
