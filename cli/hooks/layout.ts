import { createScanner, type Node, type SyntaxKind } from 'jsonc-parser';
import { type Document, endOf } from './document.ts';

/** How the owner of a JSON text lays it out. */
export interface Layout {
  lineEnd: string;
  /** One step of indentation. */
  unit: string;
  isOneLine: boolean;
}

export function detectLayout({ text, root }: Document): Layout {
  const first = root.children?.[0];
  const unit = first === undefined ? '' : indentationAt(text, first.offset);
  return {
    lineEnd: text.includes('\r\n') ? '\r\n' : '\n',
    unit: unit === '' ? '  ' : unit,
    isOneLine: root.children !== undefined && root.children.length > 0 && !text.trim().includes('\n'),
  };
}

/** The white space that the line of an offset begins with. */
export function indentationAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** What stands between the last child of an object or array and its closing bracket. */
export interface Tail {
  /** Where the last child ends, or the opening bracket. */
  start: number;
  /** Where the last comma or comment ends: white space follows. */
  end: number;
  /** Offset of the trailing comma. */
  comma: number | undefined;
}

export function findTail(text: string, container: Node): Tail {
  const last = container.children?.at(-1);
  const start = last ? endOf(last) : container.offset + 1;
  const tail: Tail = { start, end: start, comma: undefined };
  for (const { kind, offset, length } of tokensOf(text.slice(start, endOf(container) - 1))) {
    if (kind === BLANKS || kind === LINE_BREAK) continue;
    if (kind === COMMA) tail.comma = start + offset;
    tail.end = start + offset + length;
  }
  return tail;
}

/** The offset of the comma that follows a child. */
export function findComma(text: string, from: number): number | undefined {
  for (const { kind, offset } of tokensOf(text.slice(from))) {
    if (kind === COMMA) return from + offset;
    if (!TRIVIA.has(kind)) return undefined;
  }
  return undefined;
}

/** Of the package's `SyntaxKind`, which as a constant enumeration leaves nothing behind to import. */
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const BLANKS = 15;
const END = 17;
const TRIVIA: ReadonlySet<SyntaxKind> = new Set([LINE_COMMENT, BLOCK_COMMENT, LINE_BREAK, BLANKS]);

function* tokensOf(text: string): Generator<{ kind: SyntaxKind; offset: number; length: number }> {
  const scanner = createScanner(text, false);
  for (let kind = scanner.scan(); kind !== END; kind = scanner.scan()) {
    yield { kind, offset: scanner.getTokenOffset(), length: scanner.getTokenLength() };
  }
}
