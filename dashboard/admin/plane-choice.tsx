import { PLANES, type Plane } from '../../contract/secret.ts';

const MEANINGS: Record<Plane, string> = {
  live: 'for real work',
  test: 'for trying things out; its sessions stay apart',
};

/** Which plane a new secret is of. */
export function PlaneChoice({ plane, onChange }: { plane: Plane; onChange: (plane: Plane) => void }) {
  return (
    <fieldset className="flex flex-col gap-2 text-13">
      <legend className="mb-1">Plane</legend>
      {PLANES.map((each) => (
        <label key={each} className="flex items-center gap-2">
          <input type="radio" name="plane" checked={plane === each} onChange={() => onChange(each)} />
          {each}
          <span className="text-muted">{MEANINGS[each]}</span>
        </label>
      ))}
    </fieldset>
  );
}
