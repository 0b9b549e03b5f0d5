import { showHidden } from '../../kit/text/controls.ts';
import { childrenOf, type Item } from './items.ts';

/** Facts about the session at the top of a file. */
export type Head = readonly (readonly [name: string, value: string])[];

/** A session as a file. */
export function toMarkdownFile(title: string, head: Head, items: readonly Item[]): string {
  const lines = head.map(
    ([name, value]) => `- ${name}: ${/^https?:[^\s<>]+$/.test(value) ? `<${value}>` : code(showHidden(value))}`,
  );
  return `# ${escapeText(showHidden(title).replace(/\s+/g, ' '))}\n\n${lines.join('\n')}\n\n${LEFT_OUT}\n\n${toMarkdown(items)}\n`;
}

const LEFT_OUT = '*Not included: reasoning, outputs of calls, the lines they changed, and records.*';

/** The timeline as Markdown for an issue or a review. It loads nothing from elsewhere, in any viewer. */
export function toMarkdown(items: readonly Item[]): string {
  const withoutLoads = createLoadGuard();
  return items.flatMap((item) => toLines(item, withoutLoads)).join('\n\n');
}

function toLines(item: Item, withoutLoads: LoadGuard): string[] {
  const below = (children: readonly Item[]) => children.flatMap((child) => toLines(child, withoutLoads));
  if (item.kind === 'message') return messageLines(item.entry, withoutLoads);
  if (item.kind === 'idle') return ['---'];
  if (item.kind === 'tool') {
    const failed = item.failed ? ' (failed)' : '';
    const files = item.changes.map(({ path, added, removed }) => `  - ${code(path)} +${added} −${removed}`);
    const about = item.call?.about ? `: ${code(item.call.about)}` : '';
    const line = [`- **${escapeText(item.name)}**${about}${failed}`, ...files].join('\n');
    return [line, ...below(item.lanes)];
  }
  if (item.kind === 'quiet' || item.kind === 'record') return [];
  return below(childrenOf(item));
}

function messageLines(entry: Extract<Item, { kind: 'message' }>['entry'], withoutLoads: LoadGuard): string[] {
  if (entry.kind === 'turn') return entry.interrupted ? ['*interrupted*'] : [];
  if (entry.text === '') return [];
  if (entry.kind === 'prompt') return [quote(createLoadGuard()(wholeOrSaid(entry)))];
  if (entry.kind === 'answer') return [withoutLoads(wholeOrSaid(entry))];
  if (entry.kind === 'error') return [`**error** ${escapeText(entry.text)}`];
  return [];
}

/** The text of an entry, followed by the number of missing characters if it is cut. */
export const wholeOrSaid = ({ text, length }: { text: string; length: number }): string =>
  text.length < length ? `${text}\n\n[… ${length - text.length} more characters]` : text;

/** A line that starts a block of code. */
const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;
/** A fence that is indented or inside another element may end sooner. From then on, no line counts as code. */
const UNSURE = /`{3}|~{3}/;
/** Images and tags with attributes, which may hide the following text or load something. */
const LOADS = /!(?=\[)|<(?=[a-z][\w:-]*[\s/]|script|style|svg|[!?])/gi;
const TAG_AT_START = /^(\s*)<(?=[a-z/!?])/i;

/** An entity instead of a backslash, since there may be a backslash before the mark. */
const toEntity = (mark: string) => (mark === '!' ? '&#33;' : '&lt;');

type LoadGuard = (text: string) => string;

/** Escapes anything that would load something, except in blocks of code. It keeps its state for the texts that follow. */
function createLoadGuard(): LoadGuard {
  let isUnsure = false;
  return (text) => {
    let fence = '';
    const lines = text.split(/\r\n|\r|\n/).map((line) => {
      if (fence !== '') {
        const end = line.replace(/^ {0,3}/, '').trimEnd();
        if (end.length >= fence.length && end === fence.charAt(0).repeat(end.length)) fence = '';
        return line;
      }
      fence = (!isUnsure && FENCE.exec(line)?.[1]) || '';
      isUnsure ||= fence === '' && UNSURE.test(line);
      return fence === '' ? line.replace(LOADS, toEntity).replace(TAG_AT_START, '$1&lt;') : line;
    });
    return [...lines, ...(fence === '' ? [] : [fence])].join('\n');
  };
}

const quote = (text: string) =>
  text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');

/** Code in a fence of more backticks than the text contains in a row. */
function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return fence + space + text.replace(/\s+/g, ' ') + space + fence;
}

const escapeText = (text: string) => text.replace(/[\\`*_[\]<>#|]/g, '\\$&');
