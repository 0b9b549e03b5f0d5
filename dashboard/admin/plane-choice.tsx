import type { Plane } from '../../contract/secret.ts';
import { Radios } from '../kit/choice.tsx';

const OPTIONS = [
  { value: 'live', meaning: 'for real work' },
  { value: 'test', meaning: 'for trying things out; its sessions are kept apart' },
] as const;

/** Chooses the plane of a new secret. */
export const PlaneChoice = ({ plane, onChange }: { plane: Plane; onChange: (plane: Plane) => void }) => (
  <Radios legend="Plane" options={OPTIONS} value={plane} onChange={onChange} />
);
