import { paths } from '../../contract/pages.ts';
import type { Figures, Usage } from '../../contract/review.ts';
import { useMachineHealth } from '../app/queries.ts';
import { hrefOf } from '../kit/base-path.ts';
import { formatPart, plural } from '../kit/format.ts';
import { useNow } from '../kit/time.tsx';
import { useMachineNames } from '../shared/group-names.ts';
import { wordHealth } from '../shared/machine-health.tsx';
import type { Range } from '../shared/series-slots.ts';
import { FiguresCost } from './figures-cost.tsx';
import { failureRateOf } from './series.ts';

interface Props {
  range: Range;
  usage: Usage;
  /** Figures of the period before, which has as many days; undefined until they are known. */
  before: Figures | undefined;
  /** The figures of the period before are loading; the sentence reserves room for them. */
  isWaiting: boolean;
  /** Some sessions are not counted yet. */
  isCatchingUp: boolean;
}

const DAY_MS = 86_400_000;

export const daysIn = ({ from, to }: Range): number => Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;

/** `+38 % on` or `−4 % on`; the name of the period before follows. Undefined without a value to compare with. */
export function wordChange(now: number, before: number | undefined): string | undefined {
  if (before === undefined || before === 0) return undefined;
  const change = Math.round((now / before - 1) * 100);
  if (change === 0) return 'no change on';
  const sign = change > 0 ? '+' : '−';
  return change >= 1_000 ? `${Math.round(now / before)} times` : `${sign}${Math.abs(change)} % on`;
}

/** The period in one sentence: its cost, the change of the cost, the failure rate, and machines in trouble or paused. */
export function Sentence({ range, usage, before, isWaiting, isCatchingUp }: Props) {
  const { total } = usage;
  const days = daysIn(range);
  const period = days === 1 ? 'day' : `${days} days`;
  const rate = failureRateOf(total);
  const change = wordChange(total.cost ?? 0, before?.cost);
  const names = useMachineNames();
  const now = useNow();
  const machines = [...(useMachineHealth().data ?? [])].flatMap(([id, health]) => {
    const { text, kind = 'healthy' } = wordHealth(health, now) ?? {};
    return kind === 'healthy' ? [] : [{ id, kind, text: `${names.get(id) ?? 'a machine'} ${text}` }];
  });
  const wrong = machines.filter(({ kind }) => kind === 'wrong');
  const paused = machines.filter(({ kind }) => kind === 'paused');
  return (
    <p
      className="text-16/[26px] [&>*+*]:before:mx-2 [&>*+*]:before:text-line-strong [&>*+*]:before:content-['·'] [&_strong]:font-semibold [&_strong]:text-[20px]"
      data-part="sentence"
    >
      <span>
        {plural(days, 'day')}{' '}
        <strong className="num">
          <FiguresCost figures={total} usage={usage} />
        </strong>
      </span>
      {change && (
        <span className="num">
          {change} the {period} before
        </span>
      )}
      {isWaiting && (
        <span aria-hidden className="invisible">
          +00 % on the {period} before
        </span>
      )}
      {before && !before.cost && (
        <span className="text-muted">
          {before.sessions === 0 ? 'no sessions' : 'no known cost'} in the {period} before
        </span>
      )}
      <span className="num">{plural(total.sessions, 'session')}</span>
      {rate !== undefined && <span className="num">{formatPart(rate)} of calls failed</span>}
      {isCatchingUp && (
        <span role="status" className="text-muted">
          recent sessions are still being counted
        </span>
      )}
      {wrong.slice(0, MAX_MACHINES).map(({ id, text }) => (
        <a key={id} href={hrefOf(paths.environments())} className="text-warn">
          {text}
        </a>
      ))}
      {wrong.length > MAX_MACHINES && (
        <a href={hrefOf(paths.environments())} className="text-warn">
          {plural(wrong.length - MAX_MACHINES, 'more machine')} in trouble
        </a>
      )}
      {paused.slice(0, MAX_MACHINES).map(({ id, text }) => (
        <a key={id} href={hrefOf(paths.environments())}>
          {text}
        </a>
      ))}
      {paused.length > MAX_MACHINES && (
        <a href={hrefOf(paths.environments())}>{plural(paused.length - MAX_MACHINES, 'more machine')} paused</a>
      )}
    </p>
  );
}

const MAX_MACHINES = 3;
