import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { Row } from '../../timeline/rows.ts';
import { formatClock, formatCount, formatDuration, formatExact } from '../../ui/format.ts';
import { Group, Lane, Quiet, RecordLine } from './fold-rows.tsx';
import { Message } from './message-row.tsx';
import { Tool } from './tool-row.tsx';
import type { View } from './use-view.ts';

interface Props {
  row: Row;
  view: View;
  sessionId: string;
  isLive: boolean;
  onSelect: (sequence: number) => void;
}

/** A line of the timeline: the time at the left, which is the link, and what happened. */
export function RowContent({ row, view, sessionId, isLive, onSelect }: Props) {
  const { item, depth } = row;
  if (item.kind === 'idle') {
    return <p className="timeline-rule">{formatDuration(item.durationMs)} idle</p>;
  }
  if (item.kind === 'gap') {
    return (
      <p className="timeline-rule pulse">
        events {formatCount(item.from)} to {formatCount(item.to)} are loading
      </p>
    );
  }
  return (
    <div className="timeline-line" data-depth={Math.min(depth, 4)} data-kind={item.kind}>
      <TimeLink sessionId={sessionId} sequence={item.sequence} time={item.time} onSelect={onSelect} />
      <div className="min-w-0 grow">
        <Content item={item} isOpen={view.isOpen(item)} toggle={view.toggle} sessionId={sessionId} isLive={isLive} />
      </div>
    </div>
  );
}

interface ContentProps {
  item: Row['item'];
  isOpen: boolean;
  toggle: View['toggle'];
  sessionId: string;
  isLive: boolean;
}

/** Rows are drawn again only when their item changed: scrolling through thousands stays cheap. */
const Content = memo(
  function Content({ item, isOpen, toggle, sessionId, isLive }: ContentProps) {
    const onToggle = () => toggle(item);
    switch (item.kind) {
      case 'message':
        return <Message item={item} isOpen={isOpen} onToggle={onToggle} sessionId={sessionId} />;
      case 'tool':
        return <Tool item={item} isOpen={isOpen} onToggle={onToggle} sessionId={sessionId} isLive={isLive} />;
      case 'group':
        return <Group item={item} isOpen={isOpen} onToggle={onToggle} />;
      case 'lane':
        return <Lane item={item} isOpen={isOpen} onToggle={onToggle} />;
      case 'quiet':
        return <Quiet item={item} isOpen={isOpen} onToggle={onToggle} />;
      case 'record':
        return <RecordLine entry={item.entry} />;
      default:
        return null;
    }
  },
  (before, after) =>
    before.item === after.item &&
    before.isOpen === after.isOpen &&
    before.toggle === after.toggle &&
    before.isLive === after.isLive &&
    before.sessionId === after.sessionId,
);

interface TimeLinkProps {
  sessionId: string;
  sequence: number;
  time: number;
  onSelect: (sequence: number) => void;
}

function TimeLink({ sessionId, sequence, time, onSelect }: TimeLinkProps) {
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId }}
      search={(search) => ({ ...search, e: sequence })}
      replace
      preload={false}
      tabIndex={-1}
      className="timeline-time"
      title={`Event ${sequence}, ${formatExact(time)}`}
      onClick={() => onSelect(sequence)}
    >
      <time dateTime={new Date(time).toISOString()}>{formatClock(time)}</time>
      <span>#{sequence}</span>
    </Link>
  );
}

/** Roughly how high a row will be, until it is measured. */
export function estimateRow(row: Row | undefined): number {
  if (row?.item.kind === 'quiet') return 24;
  if (row?.item.kind !== 'message') return 32;
  const { entry } = row.item;
  if (entry.kind !== 'prompt' && entry.kind !== 'answer') return 32;
  return 32 + 22 * Math.min(40, Math.ceil(entry.text.length / 110));
}
