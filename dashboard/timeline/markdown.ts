import { childrenOf, type Item } from './items.ts';

/** What was said and done, as Markdown for an issue or a review. */
export function toMarkdown(items: readonly Item[]): string {
  return items.flatMap(toLines).join('\n\n');
}

function toLines(item: Item): string[] {
  if (item.kind === 'message') return messageLines(item.entry);
  if (item.kind === 'idle') return ['---'];
  if (item.kind === 'tool') {
    const failed = item.failed ? ' (failed)' : '';
    const files = item.changes.map(({ path, added, removed }) => `  - ${code(path)} +${added} −${removed}`);
    const about = item.call?.about ? `: ${code(item.call.about)}` : '';
    const line = [`- **${escapeText(item.name)}**${about}${failed}`, ...files].join('\n');
    return [line, ...item.lanes.flatMap(toLines)];
  }
  if (item.kind === 'quiet' || item.kind === 'record') return [];
  return childrenOf(item).flatMap(toLines);
}

function messageLines(entry: Extract<Item, { kind: 'message' }>['entry']): string[] {
  if (entry.kind === 'turn') return entry.interrupted ? ['*interrupted*'] : [];
  if (entry.text === '') return [];
  if (entry.kind === 'prompt') return [quote(wholeOrSaid(entry))];
  if (entry.kind === 'answer') return [wholeOrSaid(entry)];
  if (entry.kind === 'error') return [`**error** ${escapeText(entry.text)}`];
  return [];
}

/** The text, and how much of it is missing where an entry holds no more. */
export const wholeOrSaid = ({ text, length }: { text: string; length: number }): string =>
  text.length < length ? `${text}\n\n[… ${length - text.length} more characters]` : text;

const quote = (text: string) =>
  text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');

/** Longer runs of backticks than are inside. */
function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return fence + space + text.replace(/\s+/g, ' ') + space + fence;
}

const escapeText = (text: string) => text.replace(/[\\`*_[\]<>#|]/g, '\\$&');
