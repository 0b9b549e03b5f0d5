import { formatUtcDay } from './format.ts';

interface Props {
  label: string;
  /** In the form `2026-11-21`. */
  day: string;
  min?: string;
  max?: string;
  onChange: (day: string) => void;
}

/**
 * A day that can be typed or picked. Without the focus, it is written as everywhere on the page, since the browser's own
 * field orders month and day by the browser's language.
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
