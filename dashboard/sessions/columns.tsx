import type { ReactNode } from 'react';
import type { Order } from '../../contract/names.ts';
import type { SessionRow } from '../app/queries.ts';
import { formatCount, formatDuration, formatExact, formatShort, formatTokens, plural } from '../kit/format.ts';
import { Lines } from '../kit/lines.tsx';
import { Ago, useNow } from '../kit/time.tsx';
import { SessionCost } from '../shared/session-cost.tsx';
import { durationOf, endOf, hasTimes } from '../shared/session-title.ts';
import { ShapeStrip } from '../shared/shape-strip.tsx';

/** A column of the list. There are three groups: time, amount and cost. */
export interface Column {
  label: string;
  width: number;
  /** The least width of the list that shows the column. In a narrower list, the title needs the room more. */
  from: number;
  order?: Order;
  /** Whether it is the first column of a group. */
  begins?: true;
  Cell: (props: SessionRow & { isBelowDay?: boolean; isCurrent?: boolean }) => ReactNode;
  /** The text of its tooltip. */
  explain?: (row: SessionRow) => string | undefined;
}

export const COLUMNS: readonly Column[] = [
  { label: 'Activity', width: 80, from: 1240, Cell: ({ summary }) => <ShapeStrip shape={summary.shape} /> },
  {
    label: 'Started',
    width: 84,
    from: 560,
    order: 'started',
    begins: true,
    Cell: ({ session, isBelowDay }) => <Ago time={session.startedAt} isBelowDay={isBelowDay} />,
  },
  {
    label: 'Duration',
    width: 80,
    from: 1060,
    order: 'duration',
    Cell: Duration,
    explain: ({ session, summary }) =>
      hasTimes(summary)
        ? `until ${formatExact(endOf(session, summary, Date.parse(session.updatedAt)))}`
        : 'the agent does not record times',
  },
  {
    label: 'Events',
    width: 52,
    from: 1100,
    order: 'events',
    begins: true,
    Cell: ({ session }) => formatShort(session.eventCount),
    explain: ({ session, summary }) =>
      `${plural(session.eventCount, 'event')}, ${plural(summary.prompts, 'prompt')}, ${plural(summary.toolCalls, 'call')}`,
  },
  {
    label: 'Changes',
    width: 92,
    from: 1060,
    order: 'changes',
    Cell: ({ summary }) => <Changes {...summary} />,
    explain: ({ summary }) => plural(summary.filesChanged, 'file'),
  },
  {
    label: 'Tokens',
    width: 52,
    from: 1160,
    order: 'tokens',
    Cell: ({ summary }) => formatTokens(summary.inputTokens + summary.outputTokens),
    explain: ({ summary: { inputTokens, cachedTokens, outputTokens } }) =>
      `${formatTokens(inputTokens)} in (${formatCount(cachedTokens)} from a cache), ${formatTokens(outputTokens)} out`,
  },
  {
    label: 'Cost',
    width: 56,
    from: 640,
    order: 'cost',
    begins: true,
    Cell: ({ summary, isCurrent }) => <SessionCost summary={summary} tabIndex={isCurrent ? 0 : -1} />,
  },
];

/** The layout of a line: of the names of columns, and of a session. */
export const LINE = 'flex gap-3 pr-1 pl-2';
/** The title with what stands beside it. The title gets 400 pixels, or most of a smaller room; the rest is for repository and branch. */
export const MAIN = 'flex min-w-0 flex-1 items-center gap-4';
export const TITLE = 'flex min-w-[min(400px,60%)] flex-[1_1_0]';
export const WHERE = 'flex-[0_1_320px]';
export const FIGURE = 'flex-none whitespace-nowrap text-right text-muted data-begins:ml-3';

/** Failed calls are at the end of the title's column, so that the title gets the room if there are none. */
export const FAILED: Column = {
  label: 'Failed',
  width: 44,
  from: 560,
  order: 'failures',
  Cell: ({ summary: { failures } }) => (failures > 0 ? <span className="text-bad">{formatShort(failures)}</span> : ''),
  explain: ({ summary }) => `${formatCount(summary.failures)} failed of ${plural(summary.toolCalls, 'call')}`,
};

export const REDACTED: Column = {
  label: 'Redacted',
  width: 72,
  from: 560,
  order: 'redactions',
  Cell: ({ summary: { redactions } }) => (redactions > 0 ? formatShort(redactions) : ''),
  explain: ({ summary: { redactions } }) => `${plural(redactions, 'secret')} removed`,
};

/** Below this width, a session is shown in a few lines, without columns. */
export const NARROW = 560;

export const columnsFor = (width: number, order?: Order): readonly Column[] => [
  ...COLUMNS.filter(({ from }) => width >= from),
  ...(order === 'redactions' && width >= REDACTED.from ? [REDACTED] : []),
];

function Duration({ session, summary }: SessionRow): ReactNode {
  const now = useNow();
  const duration = durationOf(session, summary, now);
  return duration === undefined ? '–' : formatDuration(duration);
}

/** Lines added and removed; the number of files if no lines are known; nothing if no file was changed. */
export function Changes({ linesAdded, linesRemoved, filesChanged }: SessionRow['summary']): ReactNode {
  if (linesAdded + linesRemoved === 0) return filesChanged === 0 ? '' : plural(filesChanged, 'file');
  return <Lines added={linesAdded} removed={linesRemoved} format={formatShort} />;
}
