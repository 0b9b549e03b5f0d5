import { type CSSProperties, type MouseEvent, memo, useState } from 'react';
import { readTimeMode } from '../kit/appearance.ts';
import { Boundary } from '../kit/boundary.tsx';
import { formatDuration, plural } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { Group, Lane, Quiet, RecordLine } from './fold-rows.tsx';
import { Message } from './message-row.tsx';
import { sequencesOf } from './model/items.ts';
import type { Row } from './model/rows.ts';
import { useReading, useValue } from './reading.ts';
import { DayRule, formatTime, TimeLink } from './time-link.tsx';
import { Tool } from './tool-row.tsx';
import type { View } from './use-view.ts';

interface Props {
  measure: (node: HTMLLIElement | null) => void;
  row: Row;
  index: number;
  count: number;
  start: number;
  toggle: View['toggle'];
  sessionId: string;
  isLive: boolean;
  onSelect: (row: Row, extend: boolean) => void;
  /** The row scrolls by too fast to be read. */
  isPassing: boolean;
  /** Its height in pixels while it is not drawn in full. */
  height: number;
}

/** A positioned row. The row with the focus, or with the focus inside of it, becomes the current row. */
export const RowLine = memo(function RowLine(props: Props) {
  const { measure, row, index, count, start, onSelect, isPassing, height, ...content } = props;
  // Once a row is drawn in full, it stays so; otherwise unfolded or selected text in it would be lost.
  const [isFull, setFull] = useState(!isPassing);
  if (!isPassing && !isFull) setFull(true);
  const reading = useReading();
  const isCurrent = useValue(reading.current, (current) => current?.key === row.key);
  const { order } = row.item;
  const isInRange = useValue(reading.range, (range) => range !== undefined && order >= range.from && order <= range.to);
  const isFound = useValue(reading.hits, (hits) => hits.size > 0 && sequencesOf(row.item).some((at) => hits.has(at)));
  const onClick = (event: MouseEvent<HTMLElement>) => {
    // Selecting text does not count as a click.
    if (window.getSelection()?.isCollapsed === false || isControl(event)) return;
    if (isLink(event)) {
      if (event.ctrlKey || event.metaKey) return;
      event.preventDefault();
    }
    onSelect(row, event.shiftKey);
    event.currentTarget.focus({ preventScroll: true });
  };
  // A click with Shift marks a range of rows, so it must not select the text between them.
  const onMouseDown = (event: MouseEvent) => event.shiftKey && event.preventDefault();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the page's keys move between rows
    <li
      ref={isFull ? measure : undefined}
      aria-setsize={count}
      aria-posinset={index + 1}
      data-index={index}
      data-current={isCurrent || undefined}
      data-in-range={isInRange || undefined}
      data-found={isFound || undefined}
      tabIndex={isCurrent ? 0 : -1}
      className="timeline-row"
      style={{ transform: `translateY(${start}px)`, ...(!isFull && { height }) }}
      onMouseDown={onMouseDown}
      onClick={onClick}
      onFocus={() => reading.current.get()?.key !== row.key && onSelect(row, false)}
    >
      {isFull ? <RowContent row={row} {...content} /> : <Passing row={row} />}
    </li>
  );
});

/** With Shift, a fold counts as a part of its row, since most rows have little else to click on. */
const isControl = ({ target, shiftKey }: MouseEvent): boolean =>
  target instanceof Element &&
  target.closest(`a:not(.timeline-time), button${shiftKey ? ':not(.fold)' : ''}, pre, input, summary`) !== null;

const isLink = ({ target }: MouseEvent): boolean => target instanceof Element && target.closest('a') !== null;

/** A row during fast scrolling: two texts instead of a parser and dozens of elements. */
const Passing = ({ row: { item, start } }: Pick<Props, 'row'>) => (
  <div className="timeline-line h-full">
    <span className="timeline-time">{item.kind !== 'idle' && formatTime(item.time, start, readTimeMode())}</span>
    <p className="timeline-passing" data-kind={item.kind}>
      {showHidden(inShort(item).slice(0, PASSING))}
    </p>
  </div>
);
const PASSING = 400;

function inShort(item: Row['item']): string {
  if (item.kind === 'message') return 'text' in item.entry ? item.entry.text : '';
  if (item.kind === 'tool') return `${item.name}  ${item.call?.about ?? ''}`;
  return item.kind === 'group' ? plural(item.calls, 'tool call') : '';
}

/** Deeper rows are not indented further, since their words would have no room. */
const MAX_INDENTED = 4;

type ContentProps = Pick<Props, 'row' | 'toggle' | 'sessionId' | 'isLive'>;

/** Only drawn again for another row, so that scrolling through thousands of rows stays cheap. */
const RowContent = memo(function RowContent({ row, toggle, sessionId, isLive }: ContentProps) {
  const { item, version, isOpen } = row;
  const depth = Math.min(row.depth, MAX_INDENTED);
  if (item.kind === 'idle') return <p className="timeline-rule">{formatDuration(item.durationMs)} idle</p>;
  return (
    <>
      {row.day !== undefined && <DayRule time={row.day} />}
      <div
        className="timeline-line"
        data-depth={depth}
        data-kind={item.kind}
        style={depth > 0 ? ({ '--depth': depth } as CSSProperties) : undefined}
      >
        <TimeLink sessionId={sessionId} item={item} start={row.start} />
        <div className="timeline-content">
          <Boundary of="This event" resetKey={`${item.key} ${version} ${isOpen}`}>
            <Content item={item} isOpen={isOpen} onToggle={() => toggle(item)} sessionId={sessionId} isLive={isLive} />
          </Boundary>
        </div>
      </div>
    </>
  );
});

interface ItemProps {
  item: Row['item'];
  isOpen: boolean;
  onToggle: () => void;
  sessionId: string;
  isLive: boolean;
}

function Content({ item, isOpen, onToggle, sessionId, isLive }: ItemProps) {
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
}
