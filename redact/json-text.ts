/** Returns a string of a JSON text, masked or unchanged. `key` is its key; undefined if the string is a key itself. */
export type StringMapper = (value: string, key: string | undefined) => string;

// The loop is unrolled, so that a long string does not fill the matcher's stack. A colon after a string marks a key.
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[[\]{}]/g;

/** Letters. Parsing a longer text would take ten times its size, so it is masked as plain text. */
const LONGEST = 16 * 1024 * 1024;

export function looksLikeJson(text: string): boolean {
  // Most texts are not JSON. Finding that out by a parser error would cost more than all other work on them.
  if (text.length > LONGEST || !/^\s{0,20}[[{]/.test(text) || !/[\]}]/.test(text.trimEnd().at(-1) ?? '')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Maps the strings of a JSON text in place. Numbers, blanks and every unchanged string stay as they were written. */
export function mapJsonStrings(text: string, mapKey: (key: string) => string, mapValue: StringMapper): string {
  const names: (string | undefined)[] = [undefined];
  let mapped = '';
  let from = 0;
  for (const { 0: token, 1: colon, index } of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') names.push(names.at(-1));
    if (token === '}' || token === ']') names.pop();
    if (token[0] !== '"') continue;
    const string = token.slice(0, token.length - (colon?.length ?? 0));
    const value = JSON.parse(string) as string;
    const masked = colon === undefined ? mapValue(value, names.at(-1)) : mapKey(value);
    if (colon !== undefined) names[names.length - 1] = masked;
    if (masked === value) continue;
    mapped += text.slice(from, index) + JSON.stringify(masked);
    from = index + string.length;
  }
  return from === 0 ? text : mapped + text.slice(from);
}
