import type { Entry } from '../../contract/entry/entry.ts';

/** The most characters of an entry's text. A reader that needs the whole text reads the event. */
const LONGEST: Record<string, number> = { prompt: 400, answer: 240, reasoning: 120 };
const LONGEST_OTHER = 300;
/** Names of models and tools are keys of many rows. */
const LONGEST_NAME = 100;
/** Files that one call changes, commits that one command makes. */
const MOST_LISTED = 200;

/** The entry with all texts cut, since events may come from any client. */
export function clipEntry(entry: Entry): Entry {
  const longest = LONGEST[entry.kind] ?? LONGEST_OTHER;
  return clipValue(entry, 'entry', longest) as Entry;
}

const NAMES = new Set(['name', 'model', 'lane', 'subagent', 'agentType']);

function clipValue(value: unknown, name: string, longest: number): unknown {
  if (typeof value === 'string') {
    // A part whose others are missing says nothing; its slice would be most of the index.
    if (name === 'json') return '';
    return clipText(value, NAMES.has(name) ? LONGEST_NAME : name === 'text' ? longest : LONGEST_OTHER);
  }
  if (Array.isArray(value)) return value.slice(0, MOST_LISTED).map((item) => clipValue(item, name, longest));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, clipValue(field, key, longest)]));
}

/** Never half of a surrogate pair. */
function clipText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = (text.codePointAt(length - 1) ?? 0) > 0xffff ? length - 1 : length;
  return text.slice(0, end);
}
