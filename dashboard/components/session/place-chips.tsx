import type { SessionSearch } from '../../search.ts';

type Place = SessionSearch['view'];

const PLACES: readonly [place: Place, name: string][] = [
  [undefined, 'Timeline'],
  ['story', 'Prompts'],
  ['changes', 'Changes'],
  ['agents', 'Sub-agents'],
];

interface Props {
  place: Place;
  hasSubagents: boolean;
  onChange: (place: Place) => void;
}

/** What is read: prompts have a column of their own where there is room for it. */
export const PlaceChips = ({ place, hasSubagents, onChange }: Props) => (
  <fieldset className="chips">
    <legend className="sr-only">What to read</legend>
    {PLACES.filter(([each]) => each !== 'agents' || hasSubagents || place === 'agents').map(([each, name]) => (
      <button
        key={name}
        type="button"
        className="chip"
        data-place={each}
        aria-pressed={each === place}
        onClick={() => onChange(each)}
      >
        {name}
      </button>
    ))}
  </fieldset>
);
