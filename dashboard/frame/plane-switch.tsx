import { useNavigate, useSearch } from '@tanstack/react-router';
import { Choice } from '../kit/choice.tsx';

const PLANES = [
  { value: undefined, label: 'Live' },
  { value: 'test', label: 'Test', tone: 'test' },
  { value: 'all', label: 'All' },
] as const;

/** Chooses the plane of the sessions that all pages show. */
export function PlaneSwitch() {
  const { plane: current } = useSearch({ from: '__root__' });
  const navigate = useNavigate();
  return (
    <Choice
      label="Plane"
      look="wide"
      options={PLANES}
      value={current}
      onChange={(plane) => void navigate({ to: '.', search: (search) => ({ ...search, plane }) })}
    />
  );
}
