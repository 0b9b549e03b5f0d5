import type { Span } from './mark.ts';

export const KUBERNETES_SECRET = 'kubernetes-secret';
/** `findKubernetesSecrets` searches a text with one of these. */
export const KUBERNETES_KEYWORDS = ['kind: secret', '"kind": "secret"', '"kind":"secret"'];

const KIND = /kind["']?:[ ]?["']?[Ss]ecret(?![\w-])/g;
const SHORTEST = 3;

/** All values of the secrets that a text lists as YAML or JSON: base64 of anything, under any name. */
export function findKubernetesSecrets(text: string): Span[] {
  const ranges: (readonly [start: number, end: number])[] = [];
  // Nothing is read twice, so a text of many kinds stays cheap. JSON that was cut off does not hide the YAML after it.
  const readTo = { json: 0, yaml: 0 };
  for (const { index } of text.matchAll(KIND)) {
    const form = text[index - 1] === '"' ? 'json' : 'yaml';
    if (index < readTo[form]) continue;
    const found = form === 'json' ? readJson(text, index, readTo.json) : readYaml(text, index, readTo.yaml);
    readTo[form] = found.end;
    for (const range of found.values) ranges.push(range);
  }
  return ranges.flatMap(([start, end]) =>
    end - start < SHORTEST ? [] : { start, end, rule: KUBERNETES_SECRET, secret: text.slice(start, end) },
  );
}

interface Found {
  values: (readonly [start: number, end: number])[];
  /** The text before this position was read. */
  end: number;
}

/** A line with the position of its content. A gutter (`cat -n`, a diff) and the dash of a list are before the content. */
interface Line {
  start: number;
  end: number;
  content: number;
  column: number;
  isItem: boolean;
}

const NUMBERS = /[ \t]*\d+(?:[:\t→|]| {2})[ ]?/y;
const SIGN = /[+ -]/y;
const NOTHING = /(?:)/y;

function readYaml(text: string, kind: number, lowest: number): Found {
  const gutter = findGutter(text.slice(text.lastIndexOf('\n', kind) + 1, kind));
  const at = lineAt(text, kind, gutter);
  const before: Line[] = [];
  const after: Line[] = [];
  const isInside = (line: Line) => line.content === line.end || line.column >= at.column;
  if (!at.isItem) {
    for (let line = at; line.start > lowest; ) {
      line = lineAt(text, line.start - 1, gutter);
      if (!isInside(line)) break;
      before.push(line);
      if (line.isItem && line.column === at.column) break;
    }
  }
  for (let line = at; line.end < text.length; ) {
    line = lineAt(text, line.end + 1, gutter);
    if (!isInside(line) || (line.isItem && line.column === at.column)) break;
    after.push(line);
  }
  return { values: readData(text, [...before.reverse(), at, ...after], at.column), end: (after.at(-1) ?? at).end };
}

function findGutter(before: string): RegExp {
  if (/^[ \t]*\d+[:\t→| ]/.test(before)) return NUMBERS;
  return /^[+-](?:$|["\w]| {2})/.test(before) ? SIGN : NOTHING;
}

function lineAt(text: string, index: number, gutter: RegExp): Line {
  const start = index === 0 ? 0 : text.lastIndexOf('\n', index - 1) + 1;
  const next = text.indexOf('\n', start);
  const end = next < 0 ? text.length : next;
  gutter.lastIndex = start;
  const edge = gutter.test(text) ? Math.min(gutter.lastIndex, end) : start;
  const lead = /^[ \t]*(- +)?/.exec(text.slice(edge, Math.min(end, edge + 200)));
  const content = edge + (lead?.[0].length ?? 0);
  const isEnd = text.startsWith('---', edge);
  return { start, end, content, column: isEnd ? -1 : content - edge, isItem: lead?.[1] !== undefined };
}

const DATA = /^["']?(?:data|stringData)["']?:[ \t]*\r?$/;
const ENTRY = /^["']?[\w.-]{1,253}["']?:[ \t]*/;

function readData(text: string, lines: readonly Line[], column: number): Found['values'] {
  const values: (readonly [number, number])[] = [];
  let isData = false;
  /** The block of lines that a `|` began. */
  let block: { column: number; start: number; end: number } | undefined;
  const closeBlock = () => {
    if (block !== undefined && block.start > 0) values.push([block.start, block.end]);
    block = undefined;
  };
  for (const line of lines) {
    const content = text.slice(line.content, line.end);
    if (content.trim() === '') continue;
    if (block !== undefined && line.column > block.column) {
      block = { ...block, start: block.start || line.content, end: line.end };
      continue;
    }
    closeBlock();
    if (line.column <= column) {
      isData = DATA.test(content);
      continue;
    }
    const entry = isData ? ENTRY.exec(content) : null;
    if (entry === null) continue;
    const value = content.slice(entry[0].length).trimEnd();
    if (/^[|>][+-]?$/.test(value)) block = { column: line.column, start: 0, end: 0 };
    else if (!/^(?:""|''|\{\}|null|\[REDACTED:.*)$/.test(value))
      values.push(trimQuotes(line.content + entry[0].length, value));
  }
  closeBlock();
  return values;
}

function trimQuotes(start: number, value: string): readonly [number, number] {
  const isQuoted = /^(["']).*\1$/.test(value);
  return isQuoted ? [start + 1, start + value.length - 1] : [start, start + value.length];
}

/** An unclosed string ends with its line. Otherwise each quote in it would be tried again. */
const TOKEN = /"(?:[^"\\\n]|\\.)*("?)|[{}]/g;

/** Reads objects from the first brace on. Text after the outermost object is read with the next kind. */
function readJson(text: string, kind: number, lowest: number): Found {
  const before = text.slice(lowest, kind);
  const from = lowest + Math.max(before.lastIndexOf('\n{'), before.indexOf('{'), 0);
  const open: { isSecret: boolean; name: string | undefined; values: (readonly [number, number])[] }[] = [];
  const values: (readonly [number, number])[] = [];
  let name: string | undefined;
  let end = kind + 1;
  for (const { 0: token, 1: closing, index: at } of text.slice(from).matchAll(TOKEN)) {
    if (closing === '') continue;
    const index = from + at;
    end = Math.max(end, index + token.length);
    const object = open.at(-1);
    if (token === '{') {
      open.push({ isSecret: false, name, values: [] });
      name = undefined;
    } else if (token === '}') {
      const closed = open.pop();
      if (closed?.isSecret) for (const range of closed.values) values.push(range);
      if (open.length === 0 && index > kind) break;
    } else if (/^\s{0,20}:/.test(text.slice(index + token.length, index + token.length + 24))) {
      name = token.slice(1, -1);
    } else if (name !== undefined && object !== undefined) {
      if (name === 'kind') object.isSecret = token === '"Secret"';
      const parent = open.at(-2);
      const isData = object.name === 'data' || object.name === 'stringData';
      if (isData && !token.startsWith('"[REDACTED:')) parent?.values.push([index + 1, index + token.length - 1]);
      name = undefined;
    }
  }
  return { values, end };
}
