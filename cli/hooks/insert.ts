import type { Node } from 'jsonc-parser';
import { applyEdits, type Document, type Edit } from './document.ts';
import { detectLayout, findTail, indentationAt, type Layout } from './layout.ts';

/** Adds an item to the end of an array; nothing else of the text changes. */
export const insertItem = (document: Document, array: Node, value: unknown): string =>
  insertLast(document, array, '', value);

/** Adds a member to the end of an object. */
export const insertMember = (document: Document, object: Node, name: string, value: unknown): string =>
  insertLast(document, object, `${JSON.stringify(name)}: `, value);

/**
 * jsonc-parser's own `modify` is not used: it moves a comment from the last child to the new one
 * (microsoft/node-jsonc-parser#125) and stumbles over trailing commas (#108).
 */
function insertLast(document: Document, container: Node, prefix: string, value: unknown): string {
  const { text } = document;
  const layout = detectLayout(document);
  const last = container.children?.at(-1);
  const tail = findTail(text, container);
  const close = container.offset + container.length - 1;
  // A line comment makes a line end, so that none can swallow what comes after it.
  const isLines = last ? hasLineEnd(text, container) : !layout.isOneLine;
  const edits: Edit[] = [];
  if (last && tail.comma === undefined) edits.push({ offset: tail.start, length: 0, content: ',' });
  const content = isLines ? writeLines() : (last ? ' ' : '') + prefix + JSON.stringify(value);
  // Both go to one place where nothing stands between: the comma first.
  const comma = edits[0]?.offset === tail.end ? edits.splice(0)[0] : undefined;
  edits.push({ offset: tail.end, length: 0, content: (comma?.content ?? '') + content });
  return applyEdits(text, edits);

  function writeLines(): string {
    const outer = indentationAt(text, container.offset);
    const inner = last && startsLine(text, last.offset) ? indentationAt(text, last.offset) : outer + layout.unit;
    const closing = text.slice(tail.end, close).includes('\n') ? '' : layout.lineEnd + outer;
    return layout.lineEnd + inner + prefix + render(value, inner, layout) + closing;
  }
}

function render(value: unknown, indentation: string, { unit, lineEnd }: Layout): string {
  return JSON.stringify(value, undefined, unit)
    .split('\n')
    .join(lineEnd + indentation);
}

const hasLineEnd = (text: string, { offset, length }: Node) => text.slice(offset, offset + length).includes('\n');

const startsLine = (text: string, offset: number) =>
  text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '';
