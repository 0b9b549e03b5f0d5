import type { OverviewSearch } from '../../contract/pages.ts';
import { Choice } from '../kit/choice.tsx';
import { DateField } from '../kit/date-field.tsx';
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

/** Chooses the days to show: a preset, or a first and a last day. */
export function RangeChoice({ search, range, onChange }: Props) {
  const choose = (value: '7' | '30' | '90') =>
    onChange({ days: value === '30' ? undefined : value === '7' ? 7 : 90, from: undefined, to: undefined });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Choice
        label="Days"
        options={PRESETS}
        value={search.from ? undefined : search.days === 7 ? '7' : search.days === 90 ? '90' : '30'}
        onChange={choose}
      />
      <div className="flex flex-wrap items-center gap-2">
        <DateField
          label="First day, UTC"
          day={range.from}
          max={range.to}
          onChange={(from) => onChange({ from, to: range.to, days: undefined })}
        />
        <span className="text-muted">–</span>
        <DateField
          label="Last day, UTC"
          day={range.to}
          min={range.from}
          onChange={(to) => onChange({ from: range.from, to, days: undefined })}
        />
        <span className="text-12 text-muted">UTC</span>
      </div>
    </div>
  );
}
