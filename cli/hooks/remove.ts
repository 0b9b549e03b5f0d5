import type { Node } from 'jsonc-parser';
import { applyEdits, type Document, type Edit, endOf } from './document.ts';
import { findComma } from './layout.ts';

/** Takes an item out of an array, or a member out of an object, with its comma and its line; comments around it stay. */
export function removeChild({ text }: Document, child: Node): string {
  const siblings = child.parent?.children ?? [];
  const previous = siblings[siblings.indexOf(child) - 1];
  const following = findComma(text, endOf(child));
  const comma = following ?? (previous && findComma(text, endOf(previous)));
  const edits: Edit[] = [];
  if (comma === endOf(child)) edits.push(widen(text, child.offset, comma + 1));
  else {
    edits.push(widen(text, child.offset, endOf(child)));
    if (comma !== undefined) edits.push({ offset: comma, length: 1, content: '' });
  }
  return applyEdits(text, edits);
}

/** Takes the lines along that would be left blank, or else the blanks before. */
function widen(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const rest = /^[ \t\r]*(\n|$)/.exec(text.slice(end));
  const isOwnLine = text.slice(lineStart, start).trim() === '' && lineStart > 0;
  if (isOwnLine && rest) return { offset: lineStart, length: end + rest[0].length - lineStart, content: '' };
  const blanks = /[ \t]*$/.exec(text.slice(lineStart, start))?.[0].length ?? 0;
  return { offset: start - blanks, length: end - start + blanks, content: '' };
}
