import { CircleCheck, CircleX, GitCommitHorizontal, GitPullRequest, Hourglass, Minimize2 } from 'lucide-react';
import { type KeyboardEvent, memo, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Milestone } from '../../contract/review.ts';
import { promptLine } from '../../transcript/entry/value.ts';
import { Boundary } from '../kit/boundary.tsx';
import { formatDuration } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { useVirtualList } from '../kit/use-virtual-list.ts';
import { PullRequestLink } from '../shared/pull-request-link.tsx';
import { lastAtMost } from './model/strip.ts';
import { microStrip, type Turn } from './model/turns.ts';
import { useReading, useValue } from './reading.ts';

interface Props {
  /** It is the view in the middle of the page, and not beside it. */
  fills?: boolean;
  turns: readonly Turn[];
  milestones: readonly Milestone[];
  onSelect: (sequence: number) => void;
}

/** The outline follows the timeline once the timeline rests for this long. */
const REST_MS = 100;

const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};

type Line = { sequence: number } & ({ turn: Turn; number: number } | { milestone: Milestone });

/** The story of the session: its prompts and milestones. The current one is highlighted and stays visible. */
export const Outline = (props: Props) => (
  <nav
    aria-label="Prompts"
    className={`flex flex-col pt-3 print:hidden ${props.fills ? 'min-h-0 flex-1' : 'w-[260px] flex-none border-line border-r max-[1200px]:hidden'}`}
  >
    <Boundary of="The prompts" resetKey={props.turns.length}>
      <Lines {...props} />
    </Boundary>
  </nav>
);

const Lines = memo(function Lines({ turns, milestones, onSelect }: Props) {
  const lines = useMemo(() => toLines(turns, milestones), [turns, milestones]);
  const orders = useMemo(() => lines.map((line) => ('turn' in line ? line.turn.order : line.sequence)), [lines]);
  const { current: row, seen } = useReading();
  const at = useValue(row, (now) => now?.order);
  // While the reader's own row is in sight, as after a jump to it, its place counts, although other rows are above it.
  const current = useDeferredValue(
    useValue(seen, ({ from, to }) => lastAtMost(orders, at !== undefined && from <= at && at <= to ? at : from)),
  );
  /** The line that arrow keys moved to. Without one, only the current line is a stop of the Tab key. */
  const [focused, setFocused] = useState<number>();
  const stop = Math.min(focused ?? Math.max(0, current), lines.length - 1);
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualList<HTMLDivElement, HTMLLIElement>({
    count: lines.length,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => `${lines[index]?.sequence}-${index}`, [lines]),
    estimateSize: (index) => (lines[index] && 'turn' in lines[index] ? 52 : 28),
    overscan: 4,
    paddingEnd: 12,
    kept: () => Math.max(0, stop),
  });
  const onKey = (event: KeyboardEvent) => {
    const next = STEPS[event.key]?.(stop, lines.length);
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const at = Math.max(0, Math.min(lines.length - 1, next));
    // Synchronously, so that the next key finds the focus there.
    flushSync(() => setFocused(at));
    virtualizer.scrollToIndex(at, { align: 'auto' });
    scroller.current?.querySelector<HTMLElement>(`[data-index="${at}"] > button`)?.focus({ preventScroll: true });
  };
  useEffect(() => {
    const follow = () => {
      const { startIndex = 0, endIndex = -1 } = virtualizer.range ?? {};
      if (current <= startIndex || current >= endIndex) virtualizer.scrollToIndex(current, { align: 'auto' });
    };
    const timer = setTimeout(follow, REST_MS);
    return () => clearTimeout(timer);
  }, [current, virtualizer]);
  return (
    <>
      {lines.length === 0 && <p className="px-4 text-12 text-muted">No prompts so far</p>}
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto bg-surface px-2">
        <ol className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ key, index, start }) => {
            const line = lines[index];
            return (
              line && (
                <li
                  key={key}
                  ref={virtualizer.measureElement}
                  aria-setsize={lines.length}
                  aria-posinset={index + 1}
                  data-index={index}
                  className="absolute inset-x-0 top-0 flex items-center"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <button
                    type="button"
                    tabIndex={index === stop ? 0 : -1}
                    data-line={'turn' in line ? 'prompt' : 'milestone'}
                    onKeyDown={onKey}
                    onBlur={({ relatedTarget }) => scroller.current?.contains(relatedTarget) || setFocused(undefined)}
                    className={`flex w-full min-w-0 cursor-pointer gap-2 rounded-md text-left text-muted hover:bg-hover aria-[current]:bg-hover aria-[current]:text-text ${'turn' in line ? 'px-2 py-1' : 'items-center py-[3px] pr-2 pl-[18px] text-12/5 hover:text-text'}`}
                    aria-current={index === current ? 'location' : undefined}
                    onClick={() => onSelect(line.sequence)}
                  >
                    {'turn' in line ? (
                      <Prompt {...line} />
                    ) : (
                      <MilestoneLine
                        milestone={line.milestone}
                        isFirst={milestones.find(({ kind }) => kind === line.milestone.kind) === line.milestone}
                      />
                    )}
                  </button>
                  {'milestone' in line && <PullRequestLink milestone={line.milestone} />}
                </li>
              )
            );
          })}
        </ol>
      </div>
    </>
  );
});

function toLines(turns: readonly Turn[], milestones: readonly Milestone[]): Line[] {
  const prompted = turns.filter(({ prompt }) => prompt !== undefined);
  const lines: Line[] = [
    ...prompted.map((turn, index): Line => ({ sequence: turn.prompt?.sequence ?? 1, turn, number: index + 1 })),
    ...milestones.map((milestone): Line => ({ sequence: milestone.sequence, milestone })),
  ];
  const orderOf = (line: Line) => ('turn' in line ? line.turn.order : line.sequence);
  return lines.sort((a, b) => orderOf(a) - orderOf(b));
}

function Prompt({ turn, number }: { turn: Turn; number: number }) {
  const { text = '', images = 0 } = turn.prompt ?? {};
  return (
    <>
      <span className="min-w-4 flex-none text-right text-muted num">{number}</span>
      <span className="min-w-0 grow">
        <span className="line-clamp-2">{showHidden(promptLine(text)) || (images > 0 ? 'Image' : 'No text')}</span>
        {turn.calls > 0 && <MicroStrip turn={turn} />}
      </span>
    </>
  );
}

/** The calls of the turn in order, with a tick for each call or for a few. */
const MicroStrip = ({ turn }: { turn: Turn }) => (
  <span aria-hidden className="micro-strip" title={`${turn.calls} calls, ${turn.failures} failed`}>
    {microStrip(turn).map((kind, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: ticks have no other name
      <span key={index} data-kind={kind} />
    ))}
  </span>
);

const ICONS = {
  commit: GitCommitHorizontal,
  pull_request: GitPullRequest,
  tests: CircleCheck,
  compaction: Minimize2,
  wait: Hourglass,
};

interface MilestoneProps {
  milestone: Milestone;
  /** Whether it is the first of its kind. */
  isFirst: boolean;
}

function MilestoneLine({ milestone: { kind, text, hash, passed, durationMs = 0 }, isFirst }: MilestoneProps) {
  const Icon = kind === 'tests' && passed === false ? CircleX : ICONS[kind];
  const words = {
    commit: text,
    pull_request: text,
    // The result before the first run is unknown.
    tests: `tests ${isFirst ? 'were' : 'turned'} ${passed ? 'green' : 'red'}`,
    compaction: `compaction${text === '' ? '' : ` (${text})`}`,
    wait: `${formatDuration(durationMs)} waiting for a reply`,
  }[kind];
  return (
    <>
      <Icon
        size={14}
        aria-label={kind.replace('_', ' ')}
        className={`flex-none ${kind === 'tests' ? (passed ? 'text-ok' : 'text-bad') : 'text-muted'}`}
      />
      {hash && <span className="font-mono flex-none text-muted">{showHidden(hash.slice(0, 7))}</span>}
      <span className="min-w-0 truncate">{showHidden(words)}</span>
    </>
  );
}
