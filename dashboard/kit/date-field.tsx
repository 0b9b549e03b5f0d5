import { formatUtcDay } from './format.ts';

interface Props {
  label: string;
  /** As `2026-11-21`. */
  day: string;
  min?: string;
  max?: string;
  onChange: (day: string) => void;
}

/**
 * A day, to be typed or picked. At rest it is written as everywhere on the page: the browser's own field writes the month
 * and the day in the order of the browser's language.
 */
export function DateField({ label, day, min, max, onChange }: Props) {
  return (
    <span className="date-field">
      <span aria-hidden className="field num">
        {formatUtcDay(Date.parse(day), 'year')}
      </span>
      <input
        type="date"
        className="field"
        aria-label={label}
        value={day}
        min={min}
        max={max}
        onChange={({ target }) => target.value !== '' && onChange(target.value)}
      />
    </span>
  );
}
