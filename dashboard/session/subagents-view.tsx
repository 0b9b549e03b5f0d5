import type { SessionFacts } from '../../contract/review.ts';
import { formatDuration, plural } from '../kit/format.ts';
import { usePart } from '../kit/more.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { EventLink } from './file-changes.tsx';
import { Failures } from './fold-rows.tsx';
import type { LaneItem } from './model/items.ts';
import { type Outcome, readSubagents } from './model/subagents.ts';
import { SpentFigures } from './turn-head.tsx';
import { ViewArea } from './view-area.tsx';

interface Props {
  lanes: readonly LaneItem[];
  usage: SessionFacts['usage'] | undefined;
  /** The day of the last review of the prices. */
  pricesOf: string | undefined;
  /** The session is live, so sub-agents without an end may still be running. */
  isLive: boolean;
  onSelect: (sequence: number) => void;
  /** Shows only this sub-agent. */
  onEnter: (lane: string) => void;
}

/** The number of sub-agents drawn at first. */
const FIRST = 60;

/** The tree of sub-agents. Each links to its timeline and to the call that started it. */
export function SubagentsView({ lanes, usage, pricesOf, isLive, onSelect, onEnter }: Props) {
  const { part, more } = usePart(readSubagents(lanes), FIRST);
  return (
    <ViewArea aria-label="Sub-agents">
      <h2 className="mb-2 text-14">
        {lanes.length === 0 ? 'No sub-agents so far' : plural(lanes.length, 'sub-agent')}
      </h2>
      <ul>
        {part.map(({ item, depth, name, task, outcome }) => (
          <li
            key={item.key}
            className="flex min-h-9 max-w-[1200px] flex-wrap items-center gap-x-4 border-line border-b"
            style={{ paddingLeft: 20 * depth }}
          >
            <button
              type="button"
              className="min-w-0 flex-[1_1_180px] truncate py-[7px] text-left hover:underline"
              onClick={() => onEnter(item.lane)}
            >
              <span className="font-medium">{showHidden(name)}</span>{' '}
              <span className="text-muted">{showHidden(task)}</span>
            </button>
            {/* Without room for all columns, the figures follow one another below the task. */}
            <span className="grid grid-cols-[66px_60px_52px_72px_132px_100px] gap-x-2 whitespace-nowrap text-right text-12/5 text-muted tabular-nums @max-[720px]/view:flex @max-[720px]/view:flex-wrap @max-[720px]/view:pb-1 @max-[720px]/view:[&>:empty]:hidden">
              <OutcomeMark outcome={outcome} isLive={isLive} />
              <span>{item.calls > 0 && plural(item.calls, 'call')}</span>
              <span>
                <Failures count={item.failures} />
              </span>
              <span>{item.durationMs >= 1000 && formatDuration(item.durationMs)}</span>
              <span className="flex justify-end gap-2.5">
                <SpentFigures spent={item.spent} usage={usage} pricesOf={pricesOf} />
              </span>
              <span>
                {item.starter && (
                  <>
                    started by <EventLink sequence={item.starter.sequence} onSelect={onSelect} />
                  </>
                )}
              </span>
            </span>
          </li>
        ))}
      </ul>
      {more}
    </ViewArea>
  );
}

function OutcomeMark({ outcome, isLive }: { outcome: Outcome; isLive: boolean }) {
  if (outcome === 'open') return <span>{isLive ? 'running' : 'no result'}</span>;
  return <span className={outcome === 'finished' ? '' : 'text-bad'}>{outcome}</span>;
}
