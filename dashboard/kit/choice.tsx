import type { ReactNode } from 'react';

interface Option<Value> {
  value: Value;
  label: string;
  tone?: 'test';
}

interface Props<Value> {
  /** The name of the group, for people who cannot see that the buttons belong together. */
  label: string;
  options: readonly Option<Value>[];
  value: Value | undefined;
  onChange: (value: Value) => void;
  /** Segments by default; `wide` segments share the available width, and `tabs` are underlined. */
  look?: 'wide' | 'tabs';
}

/** A choice between a few options, side by side. */
export function Choice<const Value extends string | undefined>(props: Props<Value>) {
  const { label, options, value, onChange, look } = props;
  return (
    <fieldset className="choice" data-look={look} aria-label={label}>
      {options.map((option) => (
        <button
          key={option.label}
          type="button"
          data-value={option.value}
          data-tone={option.tone}
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}

interface ToggleProps {
  isOn: boolean;
  onToggle: () => void;
  children: ReactNode;
}

/** A button that is on or off, independent of others beside it. */
export const Toggle = ({ isOn, onToggle, children }: ToggleProps) => (
  <button type="button" className="toggle" aria-pressed={isOn} onClick={onToggle}>
    {children}
  </button>
);

interface RadiosProps<Value extends string> {
  legend: string;
  options: readonly { value: Value; label?: string; meaning: string }[];
  value: Value;
  onChange: (value: Value) => void;
}

/** A choice between a few options, each with its meaning below it. */
export function Radios<const Value extends string>({ legend, options, value: chosen, onChange }: RadiosProps<Value>) {
  return (
    <fieldset className="flex flex-col gap-2 text-13">
      <legend className="mb-1 font-medium text-text">{legend}</legend>
      {options.map(({ value, label = value, meaning }) => (
        <label key={value} className="flex items-start gap-2">
          <input
            className="mt-1"
            type="radio"
            name={legend}
            checked={chosen === value}
            onChange={() => onChange(value)}
          />
          <span className="text-text">
            {label} <span className="block text-muted first-letter:uppercase">{meaning}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface CheckProps {
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
  children: ReactNode;
}

/** A checkbox. */
export const Check = ({ isChecked, onChange, children }: CheckProps) => (
  <label className="flex items-start gap-2">
    <input className="mt-1" type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} />
    <span>{children}</span>
  </label>
);
