import { createNameReader, type NameStrength } from './names.ts';
import { isSecretInText } from './values.ts';

/** What a name of a secret has in it. `assignments.ts` looks at what stands around each of them. */
export const NAME_KEYWORDS = ['pass', 'pwd', 'secret', 'token', 'key', 'auth', 'credential', 'bearer', 'conn', '_pat'];

export const KEY_NAME = 'key-name';

const NAME_LIMIT = 64;
const VALUE_LIMIT = 2048;

const AFTER_NAME = /(\\{0,7})(["'`])?\]?[ \t]{0,4}(?::=|=>|={1,3}(?!=)|:(?!:))[ \t]{0,4}/y;
const AFTER_FLAG = /[ \t]{1,4}/y;
/** `name: API_KEY`, on the next line `value: …`: how containers list their environment. */
const AFTER_PAIR = /(?:\\{0,7}["'])?,?(?:\r?\n|\\{1,7}n|[ \t]){1,40}(?:\\{0,7}["'])?value(?:\\{0,7}["'])?:[ \t]{1,4}/iy;
const AFTER_TAG = />[ \t]{0,4}/y;
const SCHEME = /(?:bearer|basic|token|bot|ssws|apikey|digest)[ \t]{1,4}/iy;
const OPENING = /(\\{0,7})(["'`])/y;
const BARE = /[^\s"'`\\,;&<>|{}()[\]]{1,512}/y;
const BARE_VARIABLE = /[^\s"'`\\]{0,511}[^\s"'`\\;,]/y;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;

export interface Assignment {
  start: number;
  end: number;
}

/**
 * Reads `KEY=VALUE`, `"key": "value"`, `Header: value`, `--key value` and `<key>value</key>` around a keyword. Gives the
 * place of the value when it is a secret.
 */
export function createAssignmentReader() {
  const readName = createNameReader();

  return (text: string, keywordStart: number): Assignment | undefined => {
    const nameEnd = endOfName(text, keywordStart);
    const separator = readSeparator(text, nameEnd, keywordStart);
    if (separator === undefined) return undefined;
    const name = text.slice(startOfName(text, keywordStart), nameEnd);
    const strength = readName(name);
    if (strength === undefined) return undefined;
    return readValue(text, separator, name, strength);
  };
}

function readSeparator(text: string, nameEnd: number, keywordStart: number): number | undefined {
  const after = matchAt(AFTER_NAME, text, nameEnd);
  if (after !== undefined) return nameEnd + after[0].length;
  const pair = matchAt(AFTER_PAIR, text, nameEnd);
  if (pair !== undefined) return nameEnd + pair[0].length;
  const code = text.charCodeAt(nameEnd);
  if (code === SPACE && isBeforeValue(text, startOfName(text, keywordStart))) {
    return nameEnd + (matchAt(AFTER_FLAG, text, nameEnd)?.[0].length ?? 0);
  }
  if (code !== GREATER || text[startOfName(text, keywordStart) - 1] !== '<') return undefined;
  return nameEnd + (matchAt(AFTER_TAG, text, nameEnd)?.[0].length ?? 0);
}

/** `--password …` and `configure set password …`. */
function isBeforeValue(text: string, start: number): boolean {
  return text.startsWith('--', start) || text.slice(Math.max(0, start - 4), start) === 'set ';
}

function readValue(text: string, from: number, name: string, strength: NameStrength): Assignment | undefined {
  const opening = matchAt(OPENING, text, from);
  let start = from + (opening?.[0].length ?? 0);
  start += matchAt(SCHEME, text, start)?.[0].length ?? 0;
  const quote = opening?.[2];
  if (quote !== undefined) {
    const end = closeQuote(text, start, quote, opening?.[1]?.length ?? 0);
    if (end !== undefined)
      return isSecretInText(text.slice(start, end), strength, 'quoted') ? { start, end } : undefined;
  }
  const isVariable = VARIABLE.test(name) && text[from - 1] === '=';
  const value = matchAt(isVariable ? BARE_VARIABLE : BARE, text, start)?.[0];
  if (value === undefined) return undefined;
  const end = start + value.length;
  if (text[end] === '(' || text[end] === '[') return undefined;
  return isSecretInText(value, strength, isVariable ? 'variable' : 'bare') ? { start, end } : undefined;
}

/** The quote that has as many backslashes as the opening one; more of them belong to a quote inside the value. */
function closeQuote(text: string, start: number, quote: string, depth: number): number | undefined {
  const limit = Math.min(text.length, start + VALUE_LIMIT);
  for (let index = start; index < limit; index++) {
    if (text.charCodeAt(index) === NEWLINE) return undefined;
    if (text[index] !== quote) continue;
    let backslashes = 0;
    while (index - backslashes > start && text.charCodeAt(index - backslashes - 1) === BACKSLASH) backslashes++;
    if (backslashes <= depth) return index - backslashes;
    if (depth === 0 && backslashes % 2 === 0) return index;
  }
  return undefined;
}

function startOfName(text: string, from: number): number {
  let start = from;
  while (start > 0 && from - start < NAME_LIMIT && isNameCode(text.charCodeAt(start - 1))) start--;
  // `\nPASSWORD=…` in escaped text: the n belongs to the line break.
  const escaped = start > 0 && text.charCodeAt(start - 1) === BACKSLASH && 'nrt'.includes(text.charAt(start));
  return escaped && start < from ? start + 1 : start;
}

function endOfName(text: string, from: number): number {
  let end = from;
  while (end < text.length && end - from < NAME_LIMIT && isNameCode(text.charCodeAt(end))) end++;
  return end;
}

function isNameCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 45 && code <= 57 && code !== 47) ||
    code === 95
  );
}

function matchAt(pattern: RegExp, text: string, index: number): RegExpExecArray | undefined {
  pattern.lastIndex = index;
  return pattern.exec(text) ?? undefined;
}

const NEWLINE = 10;
const SPACE = 32;
const GREATER = 62;
const BACKSLASH = 92;
