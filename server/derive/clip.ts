import type { Entry } from '../../transcript/entry/entry.ts';

/** The most characters of an entry's text. A reader that needs the whole text reads the event. */
const LONGEST: Record<string, number> = { prompt: 400, answer: 240, reasoning: 120 };
const MAX_OTHER = 300;
/** The limit for names of models and tools, because they are keys of many rows. */
const MAX_NAME = 100;
/** The most files that one call changes, and the most commits of one command. */
const MAX_LISTED = 200;

/** The entry with all texts cut, because any client may send events. */
export function clipEntry(entry: Entry): Entry {
  const longest = LONGEST[entry.kind] ?? MAX_OTHER;
  return clipValue(withoutOutput(entry), 'entry', longest) as Entry;
}

/** Without the output of a call that did not fail. The timeline only shows the error in an output, and the rest was a third of all entries. */
const withoutOutput = (entry: Entry): Entry =>
  entry.kind === 'result' && !entry.failed ? { ...entry, preview: '' } : entry;

const NAMES = new Set(['name', 'model', 'lane', 'subagent', 'agentType']);

function clipValue(value: unknown, name: string, longest: number): unknown {
  if (typeof value === 'string') {
    // A part without the other parts means nothing, and its text would fill most of the index.
    if (name === 'json') return '';
    return clipText(value, NAMES.has(name) ? MAX_NAME : name === 'text' ? longest : MAX_OTHER);
  }
  if (Array.isArray(value)) return value.slice(0, MAX_LISTED).map((item) => clipValue(item, name, longest));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, clipValue(field, key, longest)]));
}

/** Cuts a text, but never inside a surrogate pair. */
function clipText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = (text.codePointAt(length - 1) ?? 0) > 0xffff ? length - 1 : length;
  return text.slice(0, end);
}
