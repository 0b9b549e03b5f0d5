interface Props<Value extends string> {
  /** What is chosen, for those who do not see that the buttons stand together. */
  label: string;
  options: readonly { value: Value; label: string }[];
  value: Value | undefined;
  onChange: (value: Value) => void;
}

/** One of a few, side by side. */
export function Choice<const Value extends string>({ label, options, value, onChange }: Props<Value>) {
  return (
    <fieldset className="choice" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
