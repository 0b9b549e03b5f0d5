import { useNavigate, useSearch } from '@tanstack/react-router';

const PLANES = [
  { plane: undefined, label: 'Live' },
  { plane: 'test', label: 'Test' },
  { plane: 'all', label: 'All' },
] as const;

/** Which plane's sessions are shown, on every page. */
export function PlaneSwitch() {
  const { plane: current } = useSearch({ from: '__root__' });
  const navigate = useNavigate();
  return (
    <fieldset className="plane-switch" aria-label="Plane">
      {PLANES.map(({ plane, label }) => (
        <button
          key={label}
          type="button"
          aria-pressed={plane === current}
          data-plane={plane}
          onClick={() => void navigate({ to: '.', search: (search) => ({ ...search, plane }) })}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
