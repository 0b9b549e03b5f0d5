import { showHidden } from '../../kit/text/controls.ts';
import { childrenOf, type Item } from './items.ts';

/** What a file says of the session it holds. */
export type Head = readonly (readonly [name: string, value: string])[];

/** A session as a file. */
export function toMarkdownFile(title: string, head: Head, items: readonly Item[]): string {
  const lines = head.map(
    ([name, value]) => `- ${name}: ${/^https?:[^\s<>]+$/.test(value) ? `<${value}>` : code(showHidden(value))}`,
  );
  return `# ${escapeText(showHidden(title).replace(/\s+/g, ' '))}\n\n${lines.join('\n')}\n\n${LEFT_OUT}\n\n${toMarkdown(items)}\n`;
}

const LEFT_OUT = '*Left out here: reasoning, the outputs of calls, the lines they changed, and records.*';

/** What was said and done, as Markdown for an issue or a review. Whatever shows it, it loads nothing from elsewhere. */
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

/** The text, and how much of it is missing where an entry holds no more. */
export const wholeOrSaid = ({ text, length }: { text: string; length: number }): string =>
  text.length < length ? `${text}\n\n[… ${length - text.length} more characters]` : text;

/** Blocks of code begin at lines like these. */
const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;
/** A block that is indented or part of something else may end sooner: from there on nothing is taken for code. */
const UNSURE = /`{3}|~{3}/;
/** Images, and tags that have attributes, hide what follows or are made to load something. */
const LOADS = /!(?=\[)|<(?=[a-z][\w:-]*[\s/]|script|style|svg|[!?])/gi;
const TAG_AT_START = /^(\s*)<(?=[a-z/!?])/i;

/** Not a backslash: there may be one before. */
const toEntity = (mark: string) => (mark === '!' ? '&#33;' : '&lt;');

type LoadGuard = (text: string) => string;

/** Shows what would load something as it is written, outside of blocks of code; of texts that follow each other. */
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

/** Longer runs of backticks than are inside. */
function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return fence + space + text.replace(/\s+/g, ' ') + space + fence;
}

const escapeText = (text: string) => text.replace(/[\\`*_[\]<>#|]/g, '\\$&');
