/*
 * Takes JSON apart into exact texts. `JSON.parse` would keep the last of several equal names and another spelling of numbers, so
 * that a file could show something else to its reader than to a check.
 */

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},]/g;
const SPACES = /("[^"\\]*(?:\\.[^"\\]*)*")|\s+/g;
const NAME = /^("[^"\\]*(?:\\.[^"\\]*)*"):/;

/** The text of a value without the spaces between its tokens. */
const compact = (json: string): string => json.replace(SPACES, (_, text?: string) => text ?? '');

/** The texts of the members or elements of an object or a list, which must be valid JSON. */
function elementsOf(json: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let from = 1;
  for (const { 0: token, index } of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    const isEnd = depth === 0 && index === json.length - 1;
    if (!isEnd && !(token === ',' && depth === 1)) continue;
    if (index > from) elements.push(json.slice(from, index));
    from = index + 1;
  }
  return elements;
}

/**
 * The exact texts of the values of an object, by their names.
 * @throws if the text is no JSON object, or has a name twice
 */
export function membersOf(json: string): Map<string, string> {
  const value: unknown = JSON.parse(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is no JSON object');
  const members = new Map<string, string>();
  for (const member of elementsOf(compact(json))) {
    const [begin = '', name = ''] = NAME.exec(member) ?? [];
    const key = JSON.parse(name) as string;
    if (members.has(key)) throw new Error(`it has ${name} twice`);
    members.set(key, member.slice(begin.length));
  }
  return members;
}

/** The exact texts of the elements of a list. @throws if the text is no list */
export function itemsOf(json: string): string[] {
  if (!Array.isArray(JSON.parse(json))) throw new Error('it is no list');
  return elementsOf(compact(json));
}
