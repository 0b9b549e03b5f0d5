import { cutText } from './pieces.ts';

/** A part of a Markdown text, which is either parsed or shown as it is written. */
export type MarkdownPiece = { markdown: string } | { code: string; language: string };

/**
 * Cuts a Markdown text into pieces that are quick to parse, whatever they contain. A piece has at most `most` characters and
 * no lines with many nested containers, which would cost a parser seconds or its whole stack. Fenced code is never parsed.
 */
export function cutMarkdown(text: string, most: number): MarkdownPiece[] {
  const pieces: MarkdownPiece[] = [];
  let lines: string[] = [];
  let length = 0;
  let fence: Fence | undefined;
  /** Successive lines that are nested too deeply form one piece. */
  let deep: { code: string; language: string } | undefined;

  const finish = () => {
    deep = undefined;
    if (lines.some((line) => line.trim() !== '')) pieces.push({ markdown: lines.join('\n') });
    lines = [];
    length = 0;
  };
  const add = (line: string) => {
    const endsBlock = line.trim() === '' && length > most / 2;
    if (endsBlock || length + line.length > most) finish();
    lines.push(line);
    length += line.length + 1;
  };
  const addLine = (line: string) => {
    if (isTooDeep(line)) {
      if (deep && lines.length === 0) deep.code += `\n${line}`;
      else {
        finish();
        deep = { code: line, language: '' };
        pieces.push(deep);
      }
    } else if (line.length > most) cutText(line, most).forEach(add);
    else add(line);
  };
  const finishFence = ({ lines: code, language }: Fence) => pieces.push({ code: code.join('\n'), language });

  for (const line of text.split('\n')) {
    if (fence === undefined) {
      fence = fenceOf(line);
      if (fence && !fence.isNested) finish();
      else addLine(line);
    } else {
      const isEnd = endsFence(line, fence);
      if (fence.isNested) addLine(line);
      else if (isEnd) finishFence(fence);
      else fence.lines.push(line.slice(Math.min(fence.indent, line.search(/[^ ]|$/))));
      if (isEnd) fence = undefined;
    }
  }
  finish();
  if (fence && !fence.isNested) finishFence(fence);
  return pieces;
}

/** The most nested containers in a line, and their largest width. No readable text has more. */
const MAX_CONTAINERS = 6;
const FARTHEST = 80;
const CONTAINERS = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/;

function isTooDeep(line: string): boolean {
  const containers = CONTAINERS.exec(line)?.[0] ?? '';
  return containers.length > FARTHEST || (containers.match(/[>*+-]|\d+/g)?.length ?? 0) > MAX_CONTAINERS;
}

interface Fence {
  mark: string;
  /** A fence inside a quotation or a list is left to the parser, which knows where each of them ends. */
  isNested: boolean;
  indent: number;
  language: string;
  lines: string[];
}

const FENCE = /^((?:[ \t>]|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*)(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

function fenceOf(line: string): Fence | undefined {
  const [found, before = '', mark = '', about = ''] = FENCE.exec(line) ?? [];
  if (found === undefined) return undefined;
  const language = about.trim().split(/\s/)[0] ?? '';
  return { mark, isNested: !/^ {0,3}$/.test(before), indent: before.length, language, lines: [] };
}

function endsFence(line: string, { mark: begun }: Fence): boolean {
  const [, , mark = '', about = ''] = FENCE.exec(line) ?? [];
  return mark.startsWith(begun) && about.trim() === '';
}
