import type { SessionFacts } from '../../contract/review.ts';
import { promptLine } from '../../transcript/entry/value.ts';
import { Explained } from '../kit/explained.tsx';
import { formatCost, formatCount, formatDuration, formatShort, plural } from '../kit/format.ts';
import { lazyPart } from '../kit/lazy.tsx';
import { Lines } from '../kit/lines.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { costOfSpent, rowsOfSpent, type Spent, tokensIn } from './model/spent.ts';
import { type Turn, turnAt, turnNumber } from './model/turns.ts';
import { useReading, useValue } from './reading.ts';

/** Loaded with the first cost that is pressed. */
const CostParts = lazyPart(() => import('../shared/cost-parts.tsx'), 'CostParts');

interface Props {
  turns: readonly Turn[];
  /** The usage of the session, with prices. */
  usage: SessionFacts['usage'] | undefined;
  /** The day of the last review of the prices. */
  pricesOf?: string | undefined;
  onSelect: (sequence: number) => void;
}

/** The current turn in one line at the top of the timeline, once its prompt is out of sight. */
export function TurnHead({ turns, usage, pricesOf, onSelect }: Props) {
  const { seen } = useReading();
  const at = useValue(seen, ({ from }) => turnAt(turns, from));
  const turn = turns[at];
  const isPassed = useValue(seen, ({ from }) => turn !== undefined && from > turn.order);
  if (!turn?.prompt || !isPassed) return null;
  const { sequence, text } = turn.prompt;
  return (
    <div className="absolute top-0 right-3 left-0 z-4 flex h-(--turn-head) items-center gap-2.5 border-b border-line bg-bg px-4">
      <button
        type="button"
        className="flex h-full min-w-0 flex-[1_1_0] cursor-pointer items-center gap-2.5 text-left"
        onClick={() => onSelect(sequence)}
      >
        <span className="flex-none text-12/5 text-muted">{turnNumber(turns, at)}</span>
        <span className="min-w-0 grow truncate font-medium">{showHidden(promptLine(text)) || 'Image'}</span>
      </button>
      <TurnFigures turn={turn} usage={usage} pricesOf={pricesOf} />
    </div>
  );
}

export function TurnFigures({ turn, usage, pricesOf }: { turn: Turn } & Pick<Props, 'usage' | 'pricesOf'>) {
  const { durationMs, calls, failures, files, added, removed, spent, interrupted } = turn;
  return (
    <span className="flex max-h-5 max-w-3/4 flex-none flex-wrap gap-x-2.5 overflow-hidden whitespace-nowrap text-12/5 text-muted tabular-nums max-sm:hidden">
      {durationMs >= 1000 && <span>{formatDuration(durationMs)}</span>}
      {calls > 0 && <span>{plural(calls, 'call')}</span>}
      {failures > 0 && <span className="font-medium text-bad">{formatCount(failures)} failed</span>}
      {files.size > 0 && (
        <span>
          {plural(files.size, 'file')} <Lines added={added} removed={removed} />
        </span>
      )}
      <SpentFigures spent={spent} usage={usage} pricesOf={pricesOf} />
      {interrupted && <span className="text-warn">interrupted</span>}
    </span>
  );
}

/** Tokens and their cost. */
export function SpentFigures({ spent, usage, pricesOf }: { spent: Spent } & Pick<Props, 'usage' | 'pricesOf'>) {
  const tokens = tokensIn(spent);
  const cost = costOfSpent(spent, usage);
  return (
    <>
      {tokens > 0 && (
        <span title="Input tokens, including cached ones, and output tokens">{formatShort(tokens)} tokens</span>
      )}
      {cost !== undefined && (
        <Explained cost={cost} explain={() => <CostParts rows={rowsOfSpent(spent, usage)} pricesOf={pricesOf} />}>
          {formatCost(cost)}
        </Explained>
      )}
    </>
  );
}
