import { showHidden } from '../../text/controls.ts';
import { SHOWABLE, type Showable } from '../../timeline/rows.ts';
import { formatCount } from '../../ui/format.ts';

const NAMES: Record<Showable, string> = {
  prompts: 'Prompts',
  answers: 'Answers',
  edits: 'Edits',
  failures: 'Failures',
  subagents: 'Sub-agents',
  records: 'Records',
};

interface Props {
  counts: Record<Showable, number>;
  shown: readonly Showable[];
  /** Name of the sub-agent that alone is shown. */
  lane: string | undefined;
  onChange: (shown: Showable[]) => void;
  onLeaveLane: () => void;
}

/** Kinds of rows with how many there are, each a switch: those that are on are shown alone. Records are off at first. */
export function KindChips({ counts, shown, lane, onChange, onLeaveLane }: Props) {
  return (
    <fieldset className="chips">
      <legend className="sr-only">What to show</legend>
      {lane !== undefined && (
        <button type="button" className="chip" aria-pressed onClick={onLeaveLane}>
          Only {showHidden(lane)} ✕
        </button>
      )}
      {SHOWABLE.filter((kind) => counts[kind] > 0).map((kind) => {
        const isOn = shown.includes(kind);
        return (
          <button
            key={kind}
            type="button"
            className="chip"
            data-kind={kind}
            aria-pressed={isOn}
            onClick={() => onChange(isOn ? shown.filter((each) => each !== kind) : [...shown, kind])}
          >
            {NAMES[kind]} <span className="num text-muted">{formatCount(counts[kind])}</span>
          </button>
        );
      })}
    </fieldset>
  );
}
