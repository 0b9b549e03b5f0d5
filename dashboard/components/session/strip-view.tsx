import { type KeyboardEvent, memo, type PointerEvent, useRef } from 'react';
import type { Strip } from '../../timeline/strip.ts';
import { formatClock } from '../../ui/format.ts';

interface Props {
  strip: Strip;
  /** The order of the events in sight. */
  range: { from: number; to: number } | undefined;
  current: number | undefined;
  /** Where the current event stands. */
  order: number | undefined;
  onJump: (sequence: number) => void;
}

const HEIGHT = 40;

/** The session at a glance: how much happened when, with marks for prompts, edits and errors. A slider over its time. */
export const StripView = memo(function StripView({ strip, range, current, order, onJump }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  const { bins, most } = strip;
  const at = order === undefined ? 0 : strip.binOf(order);

  const jump = (bin: number, step: number) => {
    for (let each = bin; each >= 0 && each < bins.length; each += step) {
      const { prompt, error, first } = bins[each] ?? {};
      const sequence = prompt ?? error ?? first;
      if (sequence !== undefined) return onJump(sequence);
    }
    return undefined;
  };
  const onPointer = (event: PointerEvent) => {
    if (event.buttons !== 1 || !ref.current) return;
    const { left, width } = ref.current.getBoundingClientRect();
    const bin = Math.max(0, Math.min(bins.length - 1, Math.floor(((event.clientX - left) / width) * bins.length)));
    jump(bin, bins.slice(bin).some(({ count }) => count > 0) ? 1 : -1);
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    event.stopPropagation();
    jump(at + step, step);
  };
  const seen = range && { from: strip.binOf(range.from), to: strip.binOf(range.to) };

  return (
    <div className="strip">
      <div
        ref={ref}
        role="slider"
        tabIndex={0}
        aria-label="Position in the session"
        aria-valuemin={0}
        aria-valuemax={bins.length - 1}
        aria-valuenow={at}
        aria-valuetext={current === undefined ? 'no event chosen' : `event ${current}`}
        onPointerDown={onPointer}
        onPointerMove={onPointer}
        onKeyDown={onKey}
      >
        <svg aria-hidden viewBox={`0 0 ${bins.length} ${HEIGHT}`} preserveAspectRatio="none">
          {seen && (
            <rect
              className="strip-seen"
              x={Math.min(seen.from, seen.to)}
              y={0}
              width={Math.abs(seen.to - seen.from) + 1}
              height={HEIGHT}
            />
          )}
          <path className="strip-work" d={bins.map(({ count }, x) => bar(x, count, most)).join('')} />
          <path className="strip-edit" d={bins.map(({ edit }, x) => (edit ? mark(x, 29, 4) : '')).join('')} />
          <path className="strip-prompt" d={bins.map(({ prompt }, x) => (prompt ? mark(x, 0, 40) : '')).join('')} />
          <path className="strip-error" d={bins.map(({ error }, x) => (error ? mark(x, 35, 5) : '')).join('')} />
          <path
            className="strip-idle"
            d={bins.map(({ idle }, x) => (idle ? `M${x - 0.2} 0v${HEIGHT}` : '')).join('')}
          />
          {current !== undefined && <path className="strip-current" d={`M${at + 0.5} 0v${HEIGHT}`} />}
        </svg>
      </div>
      <div className="strip-legend" aria-hidden>
        <span>{strip.start > 0 && formatClock(strip.start)}</span>
        <span className="flex gap-3">
          <span data-mark="prompt">prompt</span>
          <span data-mark="edit">edit</span>
          <span data-mark="error">error</span>
        </span>
        <span>{strip.end > 0 && formatClock(strip.end)}</span>
      </div>
    </div>
  );
});

/** A bar's height grows with the root of the count, so that one busy moment does not flatten the rest. */
function bar(x: number, count: number, most: number): string {
  if (count === 0) return '';
  const height = 2 + 24 * Math.sqrt(count / most);
  return `M${x + 0.1} ${28 - height}h0.8v${height}h-0.8z`;
}

const mark = (x: number, y: number, height: number) => `M${x} ${y}h0.9v${height}h-0.9z`;
