import { paths } from '../../contract/pages.ts';
import { readTimeMode, TIME_MODES, type TimeMode, useTimeMode, writeTimeMode } from '../kit/appearance.ts';
import { hrefOf } from '../kit/base-path.ts';
import { formatClock, formatDuration, formatExact } from '../kit/format.ts';
import type { Item } from './model/items.ts';

export const cycleTimeMode = (): void =>
  writeTimeMode(TIME_MODES[(TIME_MODES.indexOf(readTimeMode()) + 1) % TIME_MODES.length] ?? 'clock');

const utc = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });
const weekday = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;
const day = new Intl.DateTimeFormat('en-GB', weekday);
const utcDay = new Intl.DateTimeFormat('en-GB', { ...weekday, timeZone: 'UTC' });

export function formatTime(time: number, start: number, mode: TimeMode): string {
  if (mode === 'UTC') return `${utc.format(time)}Z`;
  if (mode === 'since start') return `+${formatDuration(Math.max(0, time - start))}`;
  return formatClock(time);
}

interface Props {
  sessionId: string;
  item: Item;
  /** The start of the session. */
  start: number;
}

/**
 * The time of a row, or its event number if the row is current or under the pointer. It links to the event, and its row
 * handles the click: a link of the router would compute the address each time one of many rows is drawn.
 */
export function TimeLink({ sessionId, item: { sequence, time }, start }: Props) {
  const [mode] = useTimeMode();
  return (
    <a
      href={hrefOf(paths.session(sessionId, sequence))}
      tabIndex={-1}
      className="timeline-time"
      title={`Event ${sequence}, ${formatExact(time)}`}
    >
      <time className="timeline-clock" dateTime={new Date(time).toISOString()}>
        {formatTime(time, start, mode)}
      </time>
      <span className="timeline-number">#{sequence}</span>
    </a>
  );
}

export function DayRule({ time }: { time: number }) {
  const [mode] = useTimeMode();
  return <p className="timeline-day">{(mode === 'UTC' ? utcDay : day).format(time)}</p>;
}
