import type { AnswerEntry, PromptEntry } from '../../transcript/entry/entry.ts';
import { pixels } from '../kit/pixels.ts';
import { type Item, soleLane } from './model/items.ts';
import type { Row } from './model/rows.ts';

const MAX_FILES = 9;
const CHARACTER_PX = 7.1;
/** Longer texts are folded. */
const MAX_LINES = 80;
const MAX_PROMPT_LINES = 12;
/** The largest width of a text. */
const WIDEST_PX = 620;

/** Estimates the height of a row until it is measured. `width` is the width of the timeline in pixels. */
export function estimateRow(row: Row | undefined, width: number): number {
  const line = pixels('--line-row');
  if (!row) return line;
  row.height ??= estimateItem(row.item, row.isOpen, width, line) + (row.day === undefined ? 0 : pixels('--line-day'));
  return row.height;
}

function estimateItem(item: Item, isOpen: boolean, width: number, line: number): number {
  if (item.kind === 'quiet') return pixels('--line-quiet');
  if (item.kind === 'record') return pixels('--line-rule');
  if (item.kind === 'idle') return pixels('--line-rule');
  if (item.kind === 'tool') {
    const files = Math.min(MAX_FILES, item.changes.length) * pixels('--line-file');
    const hasReason = item.failed && !soleLane(item) && item.results.some(({ failed, preview }) => failed && preview);
    return Math.max(line, files) + (isOpen && !soleLane(item) ? 240 : hasReason ? pixels('--line-failure') : 0);
  }
  if (item.kind !== 'message') return line;
  const { entry } = item;
  if (entry.kind === 'turn' || entry.kind === 'notice') return Math.max(pixels('--line-rule'), line);
  if (entry.kind === 'compaction')
    return entry.length > 0 ? pixels('--line-rule') + line + (isOpen ? 200 : 0) : Math.max(pixels('--line-rule'), line);
  if (entry.kind !== 'prompt' && entry.kind !== 'answer') return line + (isOpen ? 200 : 0);
  const perLine = Math.max(30, Math.min(WIDEST_PX, width - 130) / CHARACTER_PX);
  return (entry.kind === 'prompt' ? 44 : 10) + textHeight(entry, Math.round(perLine));
}

/** Rows are created again and again from the same texts. */
const known = new WeakMap<object, number>();

/** The height of a text, extrapolated if only its beginning is loaded. */
export function textHeight(entry: PromptEntry | AnswerEntry, perLine = 87): number {
  const found = known.get(entry);
  if (found !== undefined) return found;
  const { text, length } = entry;
  const lines = Math.max(1, countLines(text, perLine)) * (text.length > 0 ? length / text.length : 1);
  const most = entry.kind === 'prompt' ? MAX_PROMPT_LINES : MAX_LINES;
  const height = pixels('--line-text') * Math.min(most, Math.round(lines));
  known.set(entry, height);
  return height;
}

/** The lines of a text that wraps after `perLine` characters. An empty line counts as a gap between paragraphs. */
function countLines(text: string, perLine: number): number {
  let lines = 0;
  let start = 0;
  while (start <= text.length && lines < MAX_LINES) {
    const end = text.indexOf('\n', start);
    const length = (end < 0 ? text.length : end) - start;
    lines += length === 0 ? 0.4 : Math.ceil(length / perLine);
    if (end < 0) break;
    start = end + 1;
  }
  return lines;
}
