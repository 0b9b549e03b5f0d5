import type { OverviewSearch } from '../app/search.ts';
import { Choice } from '../kit/choice.tsx';
import type { Range } from './series-slots.ts';

interface Props {
  search: OverviewSearch;
  range: Range;
  onChange: (change: Pick<OverviewSearch, 'days' | 'from' | 'to'>) => void;
}

const PRESETS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
] as const;

/** The days that are looked at: the last few, or from one to another. */
export function RangeChoice({ search, range, onChange }: Props) {
  const choose = (value: '7' | '30' | '90') =>
    onChange({ days: value === '30' ? undefined : value === '7' ? 7 : 90, from: undefined, to: undefined });
  const day = (name: 'from' | 'to') => (
    <input
      type="date"
      className="field w-auto!"
      aria-label={name === 'from' ? 'First day, UTC' : 'Last day, UTC'}
      value={range[name]}
      {...(name === 'from' ? { max: range.to } : { min: range.from })}
      onChange={({ target }) => target.value !== '' && onChange({ ...range, [name]: target.value, days: undefined })}
    />
  );
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Choice
        label="Days"
        options={PRESETS}
        value={search.from ? undefined : search.days === 7 ? '7' : search.days === 90 ? '90' : '30'}
        onChange={choose}
      />
      {day('from')}
      <span className="text-muted">–</span>
      {day('to')}
      <span className="text-12 text-muted">UTC</span>
    </div>
  );
}
