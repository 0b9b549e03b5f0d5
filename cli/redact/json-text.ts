/** Gives a string of a JSON text back, masked or as it was. `key` is the name it stands under; undefined for a key. */
export type StringMapper = (value: string, key: string | undefined) => string;

// Unrolled, so that a long string does not fill the stack of the matcher.
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]/g;

/** Letters. A longer text would take ten times its size to be read, and is masked as plain text. */
const LONGEST = 16 * 1024 * 1024;

const BLANK = 0x20;
const OPENING: ReadonlySet<string | undefined> = new Set(['[', '{']);
const CLOSING: ReadonlySet<string | undefined> = new Set([']', '}']);

export function looksLikeJson(text: string): boolean {
  // Told by its first letter where that is no blank.
  if (text.length > LONGEST || (text.charCodeAt(0) > BLANK && !OPENING.has(text[0]))) return false;
  // Most texts are none, and to find that by an error of the parser costs more than all else that is done with them.
  if (!/^\s{0,20}[[{]/.test(text) || !CLOSING.has(text.trimEnd().at(-1))) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Maps the strings of a JSON text in place: numbers, blanks and every string that did not change stay as they were written. */
export function mapJsonStrings(text: string, mapKey: (key: string) => string, mapValue: StringMapper): string {
  const open: { isObject: boolean; key: string | undefined; awaitsKey: boolean }[] = [];
  let mapped = '';
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    const token = match[0];
    const top = open.at(-1);
    if (token === '{' || token === '[') {
      open.push({ isObject: token === '{', key: top?.key, awaitsKey: token === '{' });
      continue;
    }
    if (token === '}' || token === ']') {
      open.pop();
      continue;
    }
    if (token === ',' || token === ':') {
      if (top?.isObject) top.awaitsKey = token === ',';
      continue;
    }
    const value = JSON.parse(token) as string;
    const isKey = top?.isObject === true && top.awaitsKey;
    const masked = isKey ? mapKey(value) : mapValue(value, top?.key);
    if (isKey && top !== undefined) top.key = masked;
    if (masked === value) continue;
    mapped += text.slice(from, match.index) + JSON.stringify(masked);
    from = match.index + token.length;
  }
  return from === 0 ? text : mapped + text.slice(from);
}
