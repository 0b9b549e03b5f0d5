import { basename } from 'node:path';
import type { Context } from '../context.ts';
import { formatAge, type OutputLine } from '../output.ts';
import { toPlainText } from '../terminal.ts';
import { describeCounts, type SessionReport } from './report.ts';

const HEADINGS = ['SESSION', 'AGENT', 'ACTIVE', 'EVENTS', 'FOLDER', 'TITLE'];
const GAP = '  ';
/** The width of an id's beginning, and the most for a folder's name, in terminal cells. */
const ID_WIDTH = 13;
const FOLDER_WIDTH = 20;
/** The columns that a narrow terminal leaves out, in this order, until a title has this much room. */
const OMITTED = ['FOLDER', 'AGENT', 'EVENTS'];
const MIN_TITLE = 8;

/**
 * One line per session under headings: the beginning of its id, age, number of events, folder and title. Fits the width of
 * the terminal.
 */
export function layOutSessions(
  reports: readonly SessionReport[],
  { now, stdout }: Pick<Context, 'now' | 'stdout'>,
): OutputLine[] {
  const cells = reports.map((report) => [
    report.session.slice(0, ID_WIDTH),
    report.agent,
    report.lastActiveAt === undefined ? '' : shortAge(now() - Date.parse(report.lastActiveAt)),
    report.state === 'skipped' || report.state === 'deleted' ? report.state : describeCounts(report),
    cut(basename(report.folder ?? ''), FOLDER_WIDTH),
    report.title ?? 'untitled',
  ]);
  const table = [HEADINGS, ...cells.map((row) => row.map((cell) => toPlainText(cell).replaceAll(/[\n\t]/g, ' ')))];
  const widths = HEADINGS.map((_, column) => Math.max(...table.map((row) => widthOf(row[column] ?? ''))));
  const width = (stdout.isTTY && stdout.columns) || Number.POSITIVE_INFINITY;
  const shown = chooseColumns(widths, width);
  const [headings = '', ...lines] = table.map((row) =>
    cut(
      shown
        .map((column) => (row[column] ?? '') + ' '.repeat((widths[column] ?? 0) - widthOf(row[column] ?? '')))
        .join(GAP)
        .trimEnd(),
      width,
    ),
  );
  return [['dim', headings, ''], ...lines];
}

function chooseColumns(widths: readonly number[], width: number): number[] {
  let shown = [...HEADINGS.keys()];
  const taken = () => shown.slice(0, -1).reduce((sum, column) => sum + (widths[column] ?? 0) + GAP.length, 0);
  for (const heading of OMITTED) {
    if (taken() + MIN_TITLE > width) shown = shown.filter((column) => HEADINGS[column] !== heading);
  }
  return shown;
}

/** `3 hours ago` is too long for a column. */
const shortAge = (ms: number): string =>
  formatAge(ms)
    .replace('less than a minute', 'now')
    .replace(/ (m)in.*| (h)our.*| (d)ay.*/, '$1$2$3');

const SEGMENTER = new Intl.Segmenter();
/** Characters that take two cells in terminals: East Asian scripts and forms, and most emoji. */
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|.*\ufe0f)/u;

/** As much of a text as fits into so many cells of a terminal. */
function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let fitting = '';
  let left = width - 1;
  for (const { segment } of SEGMENTER.segment(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    fitting += segment;
  }
  return `${fitting}…`;
}

/** The width of a text in terminal cells. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  return [...SEGMENTER.segment(text)].reduce((sum, { segment }) => sum + (WIDE.test(segment) ? 2 : 1), 0);
}
