import { type KeyboardEvent, memo, type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { Milestone } from '../../contract/review.ts';
import { firstLine } from '../../transcript/entry/value.ts';
import { useTheme } from '../kit/appearance.ts';
import { formatCount, formatExact, formatPart, formatShort } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { useWidth } from '../kit/use-width.ts';
import type { Timeline } from './model/build.ts';
import { buildStrip, type Mark, type Strip } from './model/strip.ts';
import { turnAt, turnNumber } from './model/turns.ts';
import { useReading, useValue } from './reading.ts';
import { drawStrip, heightOf, INSET_PX } from './strip-draw.ts';

interface Props {
  timeline: Timeline;
  /** Limits the strip to these orders. */
  range: { from: number; to: number } | undefined;
  contextWindow: number | undefined;
  milestones: readonly Milestone[];
  /** `focus`: whether the row of the event gets the focus; true by default. */
  onJump: (sequence: number, focus?: boolean) => void;
  /** Zooms to the range between two events. */
  onRange: (from: number, to: number) => void;
  onWhole: () => void;
}

const leftOf = (place: number) => `calc(${INSET_PX}px + (100% - ${2 * INSET_PX}px) * ${place})`;

/** A shorter drag counts as a click. */
const DRAG_PX = 6;

/** The session at a glance: a slider over its time. A drag zooms to a range. */
export const StripView = memo(function StripView(props: Props) {
  const { timeline, range, contextWindow, milestones, onJump, onRange, onWhole } = props;
  const strip = useMemo(() => buildStrip(timeline, range), [timeline, range]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [measure, width] = useWidth();
  const [theme] = useTheme();
  const [hover, setHover] = useState<number>();
  const [drag, setDrag] = useState<number>();

  // In an effect, after the frame: reading the colours earlier would force the styles of all rows to be computed at once.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => {
    if (canvas.current && width > 0) drawStrip(canvas.current, { strip, width, contextWindow, milestones, range });
  }, [strip, width, contextWindow, milestones, range, theme]);

  const placeOf = ({ clientX, currentTarget }: PointerEvent) => {
    const { left } = currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(1, (clientX - left - INSET_PX) / Math.max(1, width - 2 * INSET_PX)));
  };
  const onUp = (event: PointerEvent) => {
    if (drag === undefined) return;
    const at = placeOf(event);
    setDrag(undefined);
    const [from, to] = [nearest(strip, Math.min(drag, at)), nearest(strip, Math.max(drag, at))];
    if (!from || !to) return;
    if (Math.abs(at - drag) * width < DRAG_PX) onJump(nearest(strip, at)?.entry.sequence ?? from.entry.sequence);
    else onRange(from.entry.sequence, to.entry.sequence);
  };
  const hovered = hover === undefined ? undefined : nearest(strip, hover);

  return (
    <div className="strip">
      <div ref={measure} className="strip-box" style={{ height: heightOf(strip) }}>
        <Slider strip={strip} timeline={timeline} onJump={onJump}>
          <canvas
            ref={canvas}
            aria-hidden
            style={{ width, height: heightOf(strip) }}
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId);
              setDrag(placeOf(event));
            }}
            onPointerMove={(event) => setHover(placeOf(event))}
            onPointerLeave={() => setHover(undefined)}
            onPointerUp={onUp}
            onPointerCancel={() => setDrag(undefined)}
          />
        </Slider>
        <Seen strip={strip} />
        {hover !== undefined && drag === undefined && <span className="strip-hair" style={{ left: leftOf(hover) }} />}
        {drag !== undefined && hover !== undefined && (
          <span
            className="strip-drag"
            style={{ left: leftOf(Math.min(drag, hover)), width: `${Math.abs(hover - drag) * 100}%` }}
          />
        )}
        {range && (
          <button type="button" className="strip-whole" onClick={onWhole} title="Esc shows the whole session again">
            events {formatCount(range.from)} to {formatCount(range.to)} <span aria-hidden>✕</span>
            <span className="sr-only">, show the whole session</span>
          </button>
        )}
        {hovered && hover !== undefined && (
          <Hint {...{ mark: hovered, place: hover, strip, timeline, contextWindow }} />
        )}
      </div>
    </div>
  );
});

/** The mark nearest to a position. Prompts and failures close to it are preferred. */
function nearest({ axis, marks }: Strip, place: number): Mark | undefined {
  const time = axis.timeAt(place);
  let [low, high] = [0, marks.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle] as Mark).time < time) low = middle + 1;
    else high = middle;
  }
  const near = marks
    .slice(Math.max(0, low - 6), low + 6)
    .filter((mark) => Math.abs(axis.place(mark.time) - place) < 0.004);
  return near.find(({ kind }) => kind === 'person') ?? near.find(({ kind }) => kind === 'failure') ?? marks[low];
}

interface SliderProps extends Pick<Props, 'timeline' | 'onJump'> {
  strip: Strip;
  children: React.ReactNode;
}

const KEYS: Record<string, (at: number, count: number) => number> = {
  ArrowRight: (at) => at + 1,
  ArrowLeft: (at) => at - 1,
  PageDown: (at) => at + 10,
  PageUp: (at) => at - 10,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** Keys move from turn to turn, because turns have names and slices of time do not. */
function Slider({ strip, timeline, onJump, children }: SliderProps) {
  const turns = useMemo(() => timeline.turns.filter(({ prompt }) => prompt), [timeline]);
  const { current, seen } = useReading();
  const order = useValue(current, (each) => each?.order) ?? seen.get().from;
  const at = turnAt(turns, order);
  const place = useValue(current, (each) => each && strip.axis.place(strip.timeOf(each.order)));
  const onKey = (event: KeyboardEvent) => {
    const next = KEYS[event.key]?.(at, turns.length);
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const turn = turns[Math.max(0, Math.min(turns.length - 1, next))];
    // The focus stays on the strip for the next key.
    if (turn?.prompt) onJump(turn.prompt.sequence, false);
  };
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label="Position in the session"
      aria-valuemin={1}
      aria-valuemax={Math.max(1, turns.length)}
      aria-valuenow={at + 1}
      aria-valuetext={`turn ${at + 1} of ${turns.length}: ${showHidden(firstLine(turns[at]?.prompt?.text ?? '', 80))}`}
      onKeyDown={onKey}
    >
      {children}
      {place !== undefined && <span className="strip-current" style={{ left: leftOf(place) }} />}
    </div>
  );
}

/** A bracket around the visible rows. */
function Seen({ strip }: { strip: Strip }) {
  const { seen } = useReading();
  const from = useValue(seen, (range) => strip.axis.place(strip.timeOf(range.from)));
  const to = useValue(seen, (range) => strip.axis.place(strip.timeOf(range.to)));
  const [left, right] = [Math.min(from, to), Math.max(from, to)];
  return <span className="strip-seen" style={{ left: leftOf(left), width: `${(right - left) * 100}%` }} />;
}

interface HintProps {
  mark: Mark;
  place: number;
  strip: Strip;
  timeline: Timeline;
  contextWindow: number | undefined;
}

function Hint({ mark: { entry, time }, place, strip, timeline: { turns }, contextWindow }: HintProps) {
  const turn = turnAt(turns, entry.order ?? entry.sequence);
  const words =
    'text' in entry ? entry.text : 'about' in entry ? `${'name' in entry ? entry.name : ''} ${entry.about}` : '';
  const context = strip.context.findLast((each) => each.time <= time);
  return (
    <div className="strip-hint" style={place < 0.5 ? { left: `${place * 100}%` } : { right: `${(1 - place) * 100}%` }}>
      <p className="text-muted">
        {time > 1e11 && formatExact(time)} · turn {turnNumber(turns, turn)}
        {context && ` · context ${formatShort(context.tokens)}`}
        {context &&
          contextWindow &&
          ` of ${formatShort(contextWindow)} (${formatPart(Math.min(1, context.tokens / contextWindow))} full)`}
      </p>
      <p className="truncate">{showHidden(firstLine(words)) || entry.eventType}</p>
    </div>
  );
}
